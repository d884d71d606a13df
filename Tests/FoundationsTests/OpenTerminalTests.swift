// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainTesting
import LinuxSystem
import Testing

/// Terminals with a prompt of another program.
@Suite("Terminals of other programs")
struct OpenTerminalTests {
    @Test("A terminal keeps its settings, has an owner, and does not become the controlling terminal")
    func settings() throws {
        let terminal = try PseudoTerminal()
        let opened = try OpenTerminal(path: terminal.path)
        let owner = opened.owner
        #expect(owner == geteuid())
        let isForeground = opened.isForegroundOfThisProcess
        #expect(!isForeground)
        terminal.echoes = false
        #expect(!terminal.echoes)
        opened.restore()
        #expect(terminal.echoes)
    }

    @Test(
        "A file that is not a terminal is rejected",
        arguments: [("/dev/null", ENOTTY), ("/dev/pts/99999", ENOENT), ("/proc/self/status", EACCES)])
    func rejected(_ path: String, _ code: Int32) {
        let error = #expect(throws: SystemError.self) { _ = try OpenTerminal(path: path) }
        // Root may open files that others may not.
        #expect(error?.code == code || geteuid() == 0 && error?.code == ENOTTY)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Testing

/// The command, latchkeyd of a user, pinentry-curses on the terminal of the command, fprintd with libfprint's virtual
/// reader, and latchkey-biometry-digest (started by systemd's tool).
///
/// latchkeyd trusts only a bus and an fprintd of root's.
@Suite(
    "Fingers of commands",
    .enabled(
        if: Fprintd.isInstalled && Fprintd.canServeLatchkeyd,
        "needs root, fprintd, dbus-daemon, pinentry-curses, unshare and systemd-socket-activate"))
struct FingerprintProcessTests {
    private let fprintd: Fprintd
    private let helper: SpawnedProcess
    private let daemon: DaemonProcess
    private let terminal: PseudoTerminal
    private let passcode: String

    init() throws {
        fprintd = try Fprintd()
        try fprintd.enroll("right-index-finger", print: "finger-A")
        let directory = try TemporaryDirectory()
        // The directory that latchkeyd sees as /run.
        let mount = "\(directory.path)/var"
        let socket = "\(mount)/latchkey-biometry-digest/socket"
        try FileManager.default.createDirectory(
            atPath: "\(mount)/latchkey-biometry-digest", withIntermediateDirectories: true)
        helper = try SpawnedProcess(
            [
                "/usr/bin/systemd-socket-activate", "--listen=\(socket)", "--accept", "--inetd",
                Executable.path("latchkey-biometry-digest"), fprintd.storage,
            ], environment: ["PATH": "/usr/bin:/bin"], output: "\(directory.path)/helper")
        let isListening = eventually { access(socket, F_OK) == 0 }
        try #require(isListening)
        // No prompt of these tests ends by itself.
        daemon = try DaemonProcess(
            ["--user", "--prompt-timeout", "3600"],
            launcher: [
                "/usr/bin/unshare", "--mount", "--propagation", "private", "/bin/sh", "-c",
                "mount --bind \"$0\" /run && exec \"$@\"", mount,
            ], environment: ["DBUS_SYSTEM_BUS_ADDRESS": fprintd.bus.address], in: directory)
        terminal = try PseudoTerminal()
        passcode = "\(directory.path)/passcode"
        _ = FileManager.default.createFile(
            atPath: passcode, contents: Data("the passcode".utf8), attributes: [.posixPermissions: 0o600])
        try run(["passcode", "set", "--passcode-file", passcode])
        try unlock()
        try add("any", "biometryAny")
        try add("presence", "userPresence")
        try add("current", "biometryCurrentSet")
    }

    // MARK: Tests

    @Test("The prompt disappears when the finger has matched, and the item is printed")
    func match() throws {
        let command = try find("any")
        #expect(terminal.waitForNewPrompt("touch the fingerprint reader"))
        #expect(eventually { terminal.screen.contains("Item: “any”") })
        try fprintd.send("SCAN finger-A")
        #expect(command.wait() == 0, "\(fprintd.log)")
        #expect(command.output == "secret of any\n")
        #expect(terminal.echoes && eventually { terminal.screen.contains("\u{1B}[?1049l") })
        #expect(try eventually { try fprintd.isReleased() })
    }

    @Test(
        "A miss is shown, and the next finger is read; five misses leave the passcode, and it ends the lock-out", .long)
    func misses() throws {
        let first = try find("any")
        #expect(terminal.waitForNewPrompt("touch the fingerprint reader"))
        try fprintd.send("SCAN finger-B")
        #expect(terminal.waitForNewPrompt("The finger was not recognized."))
        try fprintd.send("SCAN finger-A")
        #expect(first.wait() == 0, "\(fprintd.log)")
        #expect(first.output == "secret of any\n")
        for (misses, status) in [(3, Int32(51)), (2, 51)] {
            let command = try find("any")
            for _ in 0..<misses { try fprintd.send("SCAN finger-B") }
            #expect(command.wait() == status, "\(fprintd.log)")
        }
        // Locked: no prompt of a finger, even for the right one.
        let locked = try find("any")
        #expect(locked.wait() == 51)
        let command = try find("presence")
        #expect(terminal.waitForNewPrompt("Passcode of the keychain:"))
        terminal.type("the passcode\r")
        #expect(command.wait() == 0)
        #expect(command.output == "secret of presence\n")
        let last = try find("any")
        #expect(terminal.waitForNewPrompt("touch the fingerprint reader"))
        try fprintd.send("SCAN finger-A")
        #expect(last.wait() == 0 && last.output == "secret of any\n", "\(fprintd.log)")
    }

    @Test("`latchkey unlock` ends a lock-out")
    func unlockEndsLockout() throws {
        for misses in [3, 2] {
            let command = try find("any")
            for _ in 0..<misses { try fprintd.send("SCAN finger-B") }
            #expect(command.wait() == 51, "\(fprintd.log)")
        }
        #expect(try find("any").wait() == 51)
        try unlock()
        let command = try find("any")
        try fprintd.send("SCAN finger-A")
        #expect(command.wait() == 0, "\(fprintd.log)")
    }

    @Test("The buttons of the prompt cancel, and take the passcode instead of a finger")
    func buttons() throws {
        let cancelled = try find("any")
        #expect(terminal.waitForNewPrompt("touch the fingerprint reader"))
        terminal.type("\r")
        #expect(cancelled.wait() == 128)
        #expect(try eventually { try fprintd.isReleased() })
        let command = try find("presence")
        #expect(terminal.waitForNewPrompt("touch the fingerprint reader"))
        terminal.type("\r")
        #expect(terminal.waitForNewPrompt("Passcode of the keychain:"))
        terminal.type("the passcode\r")
        #expect(command.wait() == 0)
        #expect(command.output == "secret of presence\n")
    }

    @Test("An added finger loses the items of the set before it, and opens the others")
    func addedFinger() throws {
        let before = try find("current")
        #expect(terminal.waitForNewPrompt("touch the fingerprint reader"))
        try fprintd.send("SCAN finger-A")
        #expect(before.wait() == 0 && before.output == "secret of current\n", "\(fprintd.log)")
        try fprintd.enroll("left-index-finger", print: "finger-C")
        let after = try find("any")
        #expect(terminal.waitForNewPrompt("touch the fingerprint reader"))
        try show(["finger-A", "finger-C"], to: after)
        #expect(after.wait() == 0 && after.output == "secret of any\n", "\(fprintd.log)")
        let lost = try find("current")
        #expect(terminal.waitForNewPrompt("touch the fingerprint reader"))
        try show(["finger-A", "finger-C"], to: lost)
        #expect(lost.wait() == 44, "\(lost.output)")
        // The item is gone, and no prompt asks for it again.
        #expect(try daemon.client("latchkey", ["find-generic-password", "-a", "current", "-s", "s"]).status == 44)
    }

    @Test("A print that replaces another under the name of the same finger loses the items of the set")
    func replacedFinger() throws {
        try fprintd.delete("right-index-finger")
        try fprintd.enroll("right-index-finger", print: "finger-D")
        let command = try find("current")
        #expect(terminal.waitForNewPrompt("touch the fingerprint reader"))
        try fprintd.send("SCAN finger-D")
        #expect(command.wait() == 44, "\(fprintd.log)")
    }

    @Test("A lock ends the wait for a finger, and without the key of biometry none is asked for")
    func lock() throws {
        let command = try find("any")
        #expect(terminal.waitForNewPrompt("touch the fingerprint reader"))
        try run(["lock"])
        #expect(command.wait() != 0)
        #expect(try eventually { try fprintd.isReleased() })
        let locked = try daemon.client("latchkey", ["find-generic-password", "-a", "any", "-s", "s", "-w"])
        #expect(locked.status == 51 && locked.error.contains("latchkey unlock"), "\(locked.status) \(locked.error)")
    }

    // MARK: Support

    /// Shows one finger after the other until one is recognized: the virtual reader compares with only one of several
    /// enrolled fingers, and fprintd chooses it.
    private func show(_ prints: [String], to command: CommandOnTerminal) throws {
        for print in prints where command.isRunning {
            let before = shownMisses
            try fprintd.send("SCAN \(print)")
            #expect(eventually { shownMisses > before || !command.isRunning })
        }
    }

    /// How many misses the terminal has shown.
    private var shownMisses: Int { terminal.screen.split(separator: "The finger was not recognized.").count }

    private func run(_ words: [String]) throws {
        let outcome = try daemon.client("latchkey", words)
        try #require(outcome.status == 0, "\(words): \(outcome.error) \(daemon.logText)")
    }

    private func unlock() throws { try run(["unlock", "--passcode-file", passcode]) }

    private func add(_ account: String, _ flags: String) throws {
        try run([
            "add-generic-password", "-a", account, "-s", "s", "-l", account, "-w", "secret of \(account)",
            "--access-control", flags,
        ])
    }

    /// Starts the command that reads an item.
    private func find(_ account: String) throws -> CommandOnTerminal {
        try CommandOnTerminal(
            ["find-generic-password", "-a", account, "-s", "s", "-w"], on: terminal, clientOf: daemon)
    }
}

extension Fprintd {
    /// Whether the programs beside fprintd are installed, and the tests run as root, who may mount.
    fileprivate static var canServeLatchkeyd: Bool {
        let programs = ["pinentry-curses", "unshare", "systemd-socket-activate"]
        guard geteuid() == 0, programs.allSatisfy({ access("/usr/bin/\($0)", X_OK) == 0 }) else { return false }
        return (try? Executable.run("/usr/bin/unshare", ["--mount", "/bin/true"], home: "").status) == 0
    }
}

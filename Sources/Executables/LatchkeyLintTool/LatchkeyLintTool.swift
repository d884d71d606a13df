// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LatchkeyCommands
internal import LintCommands
internal import LinuxSystem

/// The command `latchkey-lint`, run by `latchkey`: only the start.
@main
enum LatchkeyLintTool {
    static func main() {
        let io = ProcessIO()
        do throws(SystemError) {
            try ProcessHardening.apply()
        } catch {
            exit(LatchkeyMain.refuse(error.description, io: io))
        }
        exit(LintMain.run(CommandWord.ofThisProcess(), io: io))
    }
}

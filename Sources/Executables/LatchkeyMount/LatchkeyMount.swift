// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LatchkeyClient
internal import LatchkeyCommands
internal import LinuxSystem
internal import Logging
internal import MountCommands

/// The command `latchkey-mount`, which `latchkey mount` runs: only the start.
@main
enum LatchkeyMount {
    static func main() {
        exit(run())
    }

    private static func run() -> Int32 {
        let io = ProcessIO()
        do throws(SystemError) {
            try ProcessHardening.apply()
        } catch {
            return LatchkeyMain.refuse(error.description, io: io)
        }
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        KeychainClient.configure { $0 = ProgramSetup(isUserCommand: true) }
        defer { KeychainClient.close() }
        return MountMain.run(CommandWord.ofThisProcess(), io: io)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LatchkeyClient
internal import LatchkeyCommands
internal import LinuxSystem
internal import Logging
internal import TransportCommands

/// The command `latchkey-tls`, run by `latchkey` for connections: only the start.
@main
enum LatchkeyTLSTool {
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
        return TransportMain.run(CommandWord.ofThisProcess(), io: io)
    }
}

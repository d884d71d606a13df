// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import HardwareSecurity
internal import ImportCommands
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyCommands
internal import LatchkeyService
internal import LinuxSystem
internal import Logging
internal import TrustedPlatformModule

/// The command `latchkey-import`, which `latchkey import --from` runs: only the start.
@main
enum LatchkeyImport {
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
        TrustedPlatformModule.silenceLibrary()
        var module: TrustedPlatformModule?
        do throws(KeychainError) {
            module = try MachineHardware.find(readsEnvironment: true)
            let hardware = SecureHardware(module)
            KeychainClient.configure { $0 = ProgramSetup(isUserCommand: true, hardware: hardware) }
        } catch {
            return LatchkeyMain.refuse("\(MachineHardware.variable): \(error.problem)", io: io)
        }
        defer {
            KeychainClient.close()
            module?.close()
        }
        return ImportMain.run(CommandWord.ofThisProcess(), io: io)
    }
}

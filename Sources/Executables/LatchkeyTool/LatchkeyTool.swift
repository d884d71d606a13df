// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import HardwareSecurity
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyCommands
internal import LatchkeyService
internal import LinuxSystem
internal import Logging
internal import SecurityKeyPresence
internal import TrustedPlatformModule

/// The command `latchkey`, also installed as `security`: only the start.
@main
enum LatchkeyTool {
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
        // The log lines of libraries are discarded: the command prints its own messages.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        TrustedPlatformModule.silenceLibrary()
        var module: TrustedPlatformModule?
        do throws(KeychainError) {
            module = try MachineHardware.find(readsEnvironment: true)
            let hardware = SecureHardware(module)
            KeychainClient.configure {
                $0 = ProgramSetup(
                    isUserCommand: true, securityKeys: ConnectedSecurityKeys(), hardware: hardware)
            }
        } catch {
            return LatchkeyMain.refuse("\(MachineHardware.variable): \(error.problem)", io: io)
        }
        defer {
            KeychainClient.close()
            // A TPM without a resource manager would keep the slots of the connection.
            module?.close()
        }
        return LatchkeyMain.run(CommandWord.ofThisProcess(), io: io)
    }
}

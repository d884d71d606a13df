// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc
internal import HardwareSecurity
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem
internal import Logging
internal import SecretService
internal import SecurityKeyPresence
internal import SystemBus
internal import TrustedPlatformModule

/// The program `latchkey-secret-service`: only the command line and the start.
struct LatchkeySecretService: DaemonProgram {
    static let name = "latchkey-secret-service"
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Give the keychain to desktop programs, as the Secret Service of the session bus.",
        discussion: """
            Programs that keep their secrets with libsecret, or with org.freedesktop.secrets itself, find the items of \
            the user's keychain. The bus starts the service when a program asks for it.

            EXAMPLES:
              systemctl --user enable --now latchkey-secret-service
              latchkey setup --apply secret-service
              latchkey session -- secret-tool lookup service example.com
            """,
        version: LatchkeyVersion.current)

    @Flag(help: "Take the name from a service that allows it, such as another latchkey-secret-service.")
    var replace = false

    @Flag(
        help: ArgumentHelp(
            "Read a passcode, or an empty line, from standard input, end when it ends, and ignore Ctrl-C: for the program that starts the service.",
            visibility: .hidden))
    var child = false

    /// The descriptor that tells the starting program that the service is ready.
    @Option(help: .hidden)
    var readyDescriptor: Int32?

    /// The terminal for the questions of pinentry; nil for that of the standard streams.
    @Option(help: .hidden)
    var terminal: String?

    @Option(help: ArgumentHelp("The log level: debug, info, notice, warning or error.", valueName: "level"))
    var logLevel = LogLevel.notice

    func run() throws {
        do {
            try ProcessHardening.apply()
            umask(0o077)
            TrustedPlatformModule.silenceLibrary()
            let log = Self.log(logLevel)
            let module = try MachineHardware.find(readsEnvironment: true)
            KeychainClient.configure {
                $0 = ProgramSetup(
                    isUserCommand: true, securityKeys: ConnectedSecurityKeys(), hardware: SecureHardware(module))
            }
            defer {
                KeychainClient.close()
                module?.close()
            }
            try serve(log)
        } catch let error as KeychainError {
            throw failure(error.problem, error.hint)
        } catch let error as SystemError {
            throw failure(error.description, error.hint)
        } catch let error as BusError {
            throw failure(error.description, Self.hint(for: error))
        }
    }

    private func serve(_ log: Logger) throws {
        let service = try RunningService(isChild: child, replacing: replace, terminal: terminal, log)
        if let readyDescriptor { BackgroundProcess.report("ready", to: readyDescriptor) }
        service.waitForEnd()
    }

    private static func hint(for error: BusError) -> String? {
        switch error {
        case .cannotConnect: "latchkey session -- COMMAND starts a bus, the service and a command"
        case .libraryMissing: "install libsystemd"
        default: nil
        }
    }

    /// Reports an error, also to the program that has started this one.
    private func failure(_ problem: String, _ hint: String?) -> any Error {
        let text: TerminalText = "\(problem)"
        if child, let readyDescriptor { BackgroundProcess.report(text.string, to: readyDescriptor) }
        return Self.failure(problem, hint)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainModel
import KeychainTesting
@testable import LatchkeyClient
import LatchkeyOperations
import LatchkeyService
import LinuxSystem
import SecretMemory
import Synchronization
import Testing

/// A latchkeyd in system mode, `latchkey agent` as a process, and pinentry-curses on the terminal of
/// the program that causes the question.
@Suite(
    "The agent of a session",
    .enabled(if: access("/usr/bin/pinentry-curses", X_OK) == 0, "pinentry-curses is not installed"))
struct AgentProcessTests {
    let directory: TemporaryDirectory
    let daemon: DaemonProcess
    let socket: String
    let terminal: PseudoTerminal

    init() throws {
        directory = try TemporaryDirectory()
        terminal = try PseudoTerminal()
        let folder = "\(directory.path)/rundir"
        socket = "\(folder)/socket"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        daemon = try DaemonProcess(
            [
                "--system", "--socket", socket, "--state-directory", "\(directory.path)/system", "--subuid",
                "\(directory.path)/subuid",
            ], in: directory)
    }

    @Test("A running agent asks for the passcode on the program's terminal, again after a wrong one")
    func running() throws {
        let agent = try agent()
        let service = service(startingAgents: false)
        try service.administrator.setPasscode(Self.secret("the right one")) { _, _ in }
        let program = try Authentication(service, at: place)
        #expect(terminal.waitForPrompt("Passcode of the keychain:"))
        for text in ["to log in", "\(getpid())"] { #expect(eventually { terminal.screen.contains(text) }, "\(text)") }
        terminal.type("wrong\r")
        #expect(terminal.waitForNewPrompt("The passcode is wrong. 2 attempts are left."))
        terminal.type("the right one\r")
        #expect(program.error(meanwhile: { _ = terminal.screen }) == nil)
        #expect(terminal.echoes)
        #expect(agent.isRunning && agent.stop(signal: SIGTERM) == 0)
    }

    @Test("A cancelled prompt is the end of the authentication")
    func cancelled() throws {
        let agent = try agent()
        let service = service(startingAgents: false)
        try service.administrator.setPasscode(Self.secret("the right one")) { _, _ in }
        let program = try Authentication(service, at: place)
        #expect(terminal.waitForPrompt("Passcode of the keychain:"))
        terminal.type("\t\t\r")
        let error = program.error(meanwhile: { _ = terminal.screen })
        #expect(error?.authentication == .failed(.userCancel))
        withExtendedLifetime(agent) {}
    }

    @Test(
        "An agent that ends during a question ends it; one that is not killed restores the terminal",
        arguments: [SIGTERM, SIGKILL])
    func ended(_ signal: Int32) throws {
        let agent = try agent()
        let service = service(startingAgents: false)
        try service.administrator.setPasscode(Self.secret("the right one")) { _, _ in }
        let program = try Authentication(service, at: place)
        #expect(terminal.waitForPrompt("Passcode of the keychain:"))
        agent.stop(signal: signal)
        let error = program.error(meanwhile: { _ = terminal.screen })
        #expect(error?.authentication == .failed(.notInteractive))
        // A killed agent cannot end its pinentry, so it remains until its own timeout.
        guard signal == SIGTERM else { return }
        #expect(
            eventually {
                _ = terminal.screen
                return terminal.echoes
            })
    }

    @Test("A program without an agent starts one for its call; without the installed command the hint names it")
    func onDemand() throws {
        let service = service(startingAgents: true)
        try service.administrator.setPasscode(Self.secret("the right one")) { _, _ in }
        let program = try Authentication(service, at: place)
        #expect(terminal.waitForPrompt("Passcode of the keychain:"))
        terminal.type("the right one\r")
        #expect(program.error(meanwhile: { _ = terminal.screen }) == nil)

        // The agent ends with the call.
        let caller = CallerIdentity(executable: "/usr/bin/example")
        let other = self.service(startingAgents: false)
        #expect(
            eventually { (try? other.by(caller).presenceStatus(at: place))?.methods.first?.problem != nil })
        let error = try Authentication(self.service(startingAgents: false), at: place).error()
        #expect(error?.authentication == .failed(.notInteractive))
        #expect(error?.hint?.contains("latchkey agent") == true)
        // The status says the same.
        for (service, isAvailable) in [(service, true), (self.service(startingAgents: false), false)] {
            let methods = try service.by(caller).presenceStatus(at: place).methods
            #expect(methods.map(\.name) == ["agent"] && (methods.first?.problem == nil) == isAvailable)
        }
        // Without a terminal and a display, none is started.
        let nowhere = try Authentication(service, at: .none).error()
        #expect(nowhere?.authentication == .failed(.notInteractive))
        #expect(nowhere?.problem.contains("no terminal and no display") == true)
    }

    @Test("An agent without the system's latchkeyd, or at a user's latchkeyd, ends with a message")
    func refused() throws {
        let missing = "\(directory.path)/none/socket"
        let away = try Executable.run(
            "latchkey", ["agent"], home: "", environment: ["LATCHKEY_SYSTEM_SOCKET": missing])
        #expect(away.status != 0 && away.error.contains("latchkeyd does not answer at \(missing)"))

        let own = try DaemonProcess()
        let useless = try Executable.run(
            "latchkey", ["agent"], home: "", environment: ["LATCHKEY_SYSTEM_SOCKET": own.socket])
        #expect(useless.status != 0 && useless.error.contains("this latchkeyd needs no agent"))
    }

    // MARK: Support

    private var place: PromptPlace { PromptPlace([.terminal: terminal.path, .terminalType: "xterm"]) }

    private static func secret(_ text: String) -> SharedSecret { SharedSecret(copying: text.utf8) }

    /// Starts an agent, and waits until latchkeyd asks it.
    private func agent() throws -> SpawnedProcess {
        // The output of `--child` says when; its standard input must stay open.
        let pipe = "\(directory.path)/input"
        let words = [
            "/bin/sh", "-c", "mkfifo \"$2\" && exec \"$1\" agent --child <>\"$2\"", "sh", Executable.path("latchkey"),
            pipe,
        ]
        let environment = [
            "PATH": "/usr/bin:/bin", "LATCHKEY_SYSTEM_SOCKET": socket, "SWIFT_BACKTRACE": "enable=no",
        ]
        let output = "\(directory.path)/agent"
        let agent = try SpawnedProcess(words, environment: environment, output: output)
        let isReady = eventually {
            (try? String(contentsOfFile: output, encoding: .utf8)) == "ready\n" || !agent.isRunning
        }
        try #require(isReady && agent.isRunning)
        return agent
    }

    /// - Parameter startingAgents: whether the program finds the installed command: the one beside
    ///   the tests.
    private func service(startingAgents: Bool) -> DaemonService {
        let folder = (Executable.path("latchkey") as NSString).deletingLastPathComponent
        let launcher = AgentLauncher(directories: startingAgents ? [folder] : [], owner: geteuid()) { [socket] name in
            name == "LATCHKEY_SYSTEM_SOCKET" ? socket : nil
        }
        return DaemonService(
            SocketConnector.system(socket), claim: { CallerIdentity(executable: "/usr/bin/example") }, agents: launcher)
    }

    /// An authentication by the owner, on a thread of its own.
    private final class Authentication: Sendable {
        private let result = Mutex<Result<Void, KeychainError>?>(nil)

        init(_ service: DaemonService, at place: PromptPlace) throws {
            let caller = CallerIdentity(executable: "/usr/bin/example")
            let context = try service.by(caller).createContext()
            let isRunning = BackgroundThread.run { [self] in
                let outcome = Result { () throws(KeychainError) in
                    try service.by(caller).authenticate(
                        for: .policy(.owner), in: context,
                        prompt: AuthenticationPrompt(reason: "to log in", place: place))
                }
                result.withLock { $0 = outcome }
            }
            try #require(isRunning)
        }

        /// Waits for the end, while `meanwhile` is called repeatedly; nil if it succeeded.
        func error(meanwhile: () -> Void = {}) -> KeychainError? {
            let hasEnded = eventually {
                meanwhile()
                return result.withLock { $0 != nil }
            }
            #expect(hasEnded)
            guard case .failure(let error)? = result.withLock({ $0 }) else { return nil }
            return error
        }
    }
}

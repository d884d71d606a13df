// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
internal import Logging
internal import SecretMemory
internal import SecretService
internal import SystemBus

/// The service from its start to a signal, the end of the bus, or the loss of its name.
final class RunningService: Sendable {
    private let bus: BusConnection
    private let server: SecretServer
    private let end: StopSignal

    /// - Parameters:
    ///   - isChild: whether standard input has a passcode, and its end is that of the service.
    ///   - replacing: whether the name is taken from a service that allows it.
    ///   - terminal: the terminal for the questions of pinentry; nil for that of this process.
    init(isChild: Bool, replacing: Bool, terminal: String?, _ log: Logger) throws {
        let end = try StopSignal()
        self.end = end
        if isChild { for number in [SIGINT, SIGQUIT] { signal(number, SIG_IGN) } }
        let signals = isChild ? [SIGTERM, SIGHUP] : [SIGTERM, SIGINT, SIGHUP]
        guard TerminationSignals.handle(signals, { end.raise() }) else {
            throw SystemError("start a thread", code: EAGAIN)
        }
        if isChild { try Self.unlock(log) }
        bus = try BusConnection(to: .session, limits: SecretLimits.bus) { end.raise() }
        let keychain = KeychainSecretStore(
            generation: { KeychainClient.generation },
            prepareUnlock: { () throws(KeychainError) in try KeychainClient.startDaemonIfMissing() },
            opened: { KeychainClient.openedSession() },
            { () throws(KeychainError) in try KeychainClient.session() })
        server = SecretServer(
            on: bus, store: CombinedSecretStore(keychain), applications: keychain, consents: keychain,
            askers: SecretAsker.all(on: bus, terminal: terminal), log: log)
        do throws(BusError) {
            try server.start(replacing: replacing) {
                log.notice("another program has taken the name")
                end.raise()
            }
        } catch .nameTaken(let name) {
            throw Self.taken(name, on: bus)
        } catch {
            throw error
        }
        if isChild { Self.endWithInput(end) }
    }

    /// The error that names the program that has the name.
    private static func taken(_ name: BusName, on bus: BusConnection) -> KeychainError {
        let program = (try? bus.owner(of: name)).flatMap { $0 }.map(bus.program)
        return KeychainError(
            .notAvailable, "\(program?.description ?? "another program") provides \(name) on this bus already",
            hint: program?.name == "gnome-keyring-daemon"
                ? "latchkey setup --apply secret-service imports its items, and takes its place"
                : "--replace takes the name from another latchkey-secret-service")
    }

    func waitForEnd() {
        // A signal of the debugger also ends a wait.
        while !end.wait(milliseconds: -1) {}
        server.stop()
        bus.close()
    }

    /// Unlocks the keychain with the first line of standard input, if it is not empty.
    private static func unlock(_ log: Logger) throws {
        let buffer = SecretBuffer(count: 4096)
        let line = try buffer.withUnsafeMutableBytes { bytes -> SharedSecret? in
            guard let count = try Terminal.readInputLine(into: bytes), count > 0 else { return nil }
            return SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes.prefix(count))))
        }
        guard let line else { return }
        try KeychainClient.session().unlock(line) { _, _ in }
    }

    private static func endWithInput(_ end: StopSignal) {
        BackgroundThread.run {
            var byte: UInt8 = 0
            while true {
                let count = read(STDIN_FILENO, &byte, 1)
                guard count > 0 || count < 0 && errno == EINTR else { return end.raise() }
            }
        }
    }
}

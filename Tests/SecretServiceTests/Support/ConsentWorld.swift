// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainSessions
import KeychainTesting
import LatchkeyService
import Logging
import SecretMemory
@testable import SecretService
import Synchronization
import SystemBus

/// The Secret Service over a keychain, with consents, on a private bus. Every client is this process,
/// one program.
final class ConsentWorld: Sendable {
    let bus: PrivateBus
    let keychain: TestKeychain
    let store: KeychainSecretStore
    let person: TestPerson
    let log = CollectedLog()
    private let connection: BusConnection
    private let server: SecretServer

    /// - Parameter canAsk: whether the service has a way to ask the person.
    init(_ mode: ConsentMode?, person: TestPerson = TestPerson(), canAsk: Bool = true) throws {
        bus = try PrivateBus()
        keychain = try TestKeychain(.ephemeral)
        store = KeychainSecretStore(testing: keychain)
        self.person = person
        connection = try BusConnection(to: .custom(bus.address), limits: SecretLimits.bus)
        let log = log
        server = SecretServer(
            on: connection, store: CombinedSecretStore(store), consents: store,
            askers: canAsk ? [.custom { question, cancellation in person.answer(question, cancellation) }] : [],
            log: Logger(label: "test") { _ in log.handler })
        if let mode { try consents.setMode(mode) }
        try server.start(replacing: false) {}
    }

    /// The consents, as the user's command changes them.
    var consents: KeychainConsents {
        KeychainConsents(
            KeychainSession(
                keychain.service, as: CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true)))
    }

    func client() throws -> SecretClient { SecretClient(try BusConnection(to: .custom(bus.address))) }

    /// Adds an item as another program, and returns its path.
    func addForeign(_ secret: String, _ attributes: [String: String], label: String = "mail") throws -> ObjectPath {
        let item = NewSecretItem(
            label: label, attributes: try SecretAttributes(testing: attributes),
            secret: SecretValue(SharedSecret(copying: secret.utf8), contentType: "text/plain"),
            creator: ProgramPath("/usr/bin/another-program"))
        return try store.add(item, replacing: false, to: .login).reference.path
    }

    deinit {
        server.stop()
        connection.close()
    }
}

/// The log lines of a service.
final class CollectedLog: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    var handler: any LogHandler { Handler(collected: self) }

    private func add(_ line: String) { lines.withLock { $0.append(line) } }

    private struct Handler: LogHandler {
        let collected: CollectedLog
        var logLevel = Logger.Level.debug
        var metadata = Logger.Metadata()

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let values = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.sorted()
            collected.add(([event.message.description] + values).joined(separator: " "))
        }
    }
}

extension SecretClient {
    /// Calls `Unlock`, and returns the unlocked objects and the prompt for the rest.
    func unlock(_ paths: [ObjectPath]) throws -> (unlocked: [ObjectPath], prompt: ObjectPath) {
        var answer = try call(
            Self.service, "Service", "Unlock", [paths.busValue], returning: [.paths, .objectPath])
        return (try answer.next(), try answer.next())
    }

    /// Calls `GetSecrets`, and returns the paths of the secrets in the answer.
    func readable(_ paths: [ObjectPath], _ session: Session) throws -> [BusValue] {
        var answer = try call(
            Self.service, "Service", "GetSecrets", [paths.busValue, .objectPath(session.path)],
            returning: [.dictionary(key: .objectPath, value: .secret)], holdsSecrets: true)
        guard case .dictionary(_, _, let entries) = try answer.nextValue() else { return [] }
        return entries.map(\.key)
    }
}

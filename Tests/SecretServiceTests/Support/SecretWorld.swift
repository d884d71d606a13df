// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainModel
import KeychainTesting
import LinuxSystem
import Logging
import SecretMemory
import SecretService
import Synchronization
import SystemBus

/// The Secret Service over a store in memory, on a private bus.
final class SecretWorld: Sendable {
    let bus: PrivateBus
    let store: MemorySecretStore
    let person: TestPerson
    private let connection: BusConnection
    let server: SecretServer

    /// - Parameters:
    ///   - passcode: nil for a store that is never locked.
    ///   - prepare: changes the store before the service is started.
    init(
        passcode: String? = nil, person: TestPerson = TestPerson(), consents: (any ConsentStore)? = nil,
        prepare: (MemorySecretStore) throws -> Void = { _ in }
    ) throws {
        bus = try PrivateBus()
        store = MemorySecretStore(
            .login, label: "Login", passcode: passcode.map { SharedSecret(copying: $0.utf8) })
        self.person = person
        try prepare(store)
        connection = try BusConnection(to: .custom(bus.address), limits: SecretLimits.bus)
        server = SecretServer(
            on: connection, store: CombinedSecretStore(store), applications: store, consents: consents,
            askers: [.custom { question, cancellation in person.answer(question, cancellation) }],
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try server.start(replacing: false) {}
    }

    func client() throws -> SecretClient { SecretClient(try BusConnection(to: .custom(bus.address))) }

    /// The environment of a program that uses the service.
    var environment: [String: String] {
        ["PATH": "/usr/bin:/bin", "DBUS_SESSION_BUS_ADDRESS": bus.address, "HOME": "/nonexistent"]
    }

    /// Whether ``openSessionInAnotherProcess()`` can run.
    static var hasOtherPrograms: Bool { access("/usr/bin/busctl", X_OK) == 0 }

    /// Opens a session as a program that is no process of this test; returns its exit value.
    func openSessionInAnotherProcess() throws -> Int32 {
        try startInAnotherProcess(["OpenSession", "sv", "plain", "s", ""]).awaitExit()
    }

    /// Begins to search for all items as a program that is no process of this test.
    func startSearchInAnotherProcess() throws -> SpawnedProcess {
        try startInAnotherProcess(["SearchItems", "a{ss}", "0"])
    }

    private func startInAnotherProcess(_ method: [String]) throws -> SpawnedProcess {
        try SpawnedProcess(
            [
                "/usr/bin/busctl", "--address=\(bus.address)", "--timeout=600", "call", "org.freedesktop.secrets",
                "/org/freedesktop/secrets", "org.freedesktop.Secret.Service",
            ] + method, environment: environment, output: "/dev/null")
    }

    deinit {
        server.stop()
        connection.close()
    }
}

/// Consents that no program needs. Their readers wait until the gate is open.
final class GatedConsents: ConsentStore {
    private let readers = Mutex(0)
    private let isOpen = Mutex(false)

    /// The readers that have come.
    var count: Int { readers.withLock { $0 } }

    func open() { isOpen.withLock { $0 = true } }

    func consentMode() throws(SecretStoreError) -> ConsentMode {
        readers.withLock { $0 += 1 }
        _ = eventually { isOpen.withLock { $0 } }
        return .never
    }

    func consents() throws(SecretStoreError) -> Set<Consent> { [] }

    func keep(_ consents: [Consent]) throws(SecretStoreError) {}
}

/// Answers the prompts of a test.
final class TestPerson: Sendable {
    private let answers: Mutex<[String?]>
    private let asked = Mutex<[SecretQuestion]>([])
    private let cancelled = Mutex(0)
    private let waits: Bool

    /// - Parameters:
    ///   - answers: the text that is typed for each question; nil cancels. After them, every question is cancelled. A
    ///     question about reading is answered with `once` or `always`.
    ///   - waits: whether each question is open until it is cancelled.
    init(_ answers: [String?] = [], waits: Bool = false) {
        self.answers = Mutex(answers)
        self.waits = waits
    }

    var questions: [SecretQuestion] { asked.withLock { $0 } }
    /// How many questions that were open have been cancelled.
    var cancelledCount: Int { cancelled.withLock { $0 } }

    func answer(_ question: SecretQuestion, _ cancellation: Cancellation) -> SecretAnswer {
        asked.withLock { $0.append(question) }
        if waits {
            if eventually({ cancellation.isCancelled }) { cancelled.withLock { $0 += 1 } }
            return .cancelled
        }
        let typed = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        if case .consent = question.kind {
            return typed.map { SecretAnswer.allowed(isKept: $0 == "always") } ?? .cancelled
        }
        return typed.map { SecretAnswer.typed(SharedSecret(copying: $0.utf8)) } ?? .cancelled
    }
}

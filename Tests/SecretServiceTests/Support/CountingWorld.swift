// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainSessions
import KeychainTesting
import LatchkeyService
import Logging
import SecretMemory
import SecretService
import Synchronization
import SystemBus

/// The Secret Service over a keychain, on a private bus. It counts how its calls get to the keychain.
final class CountingWorld: Sendable {
    /// How often it was tried to answer at once, and how often the keychain was opened by a call that was not.
    struct Counts: Equatable {
        var tried = 0
        var opened = 0
    }

    private let keychain: TestKeychain
    let session: KeychainSession
    let client: SecretClient
    private let bus: PrivateBus
    private let counter = Counter()
    private let connection: BusConnection
    private let server: SecretServer

    init(_ backend: Backend = .onDisk) throws {
        bus = try PrivateBus()
        keychain = try TestKeychain(backend)
        session = KeychainSession(
            keychain.service, as: CallerIdentity(executable: "/usr/libexec/latchkey/latchkey-secret-service"))
        let store = KeychainSecretStore(opened: { [counter, session] in
            counter.counts.withLock { $0.tried += 1 }
            return session
        }) { [counter, session] () throws(KeychainError) in
            counter.counts.withLock { $0.opened += 1 }
            counter.pause()
            return session
        }
        connection = try BusConnection(to: .custom(bus.address), limits: SecretLimits.bus)
        server = SecretServer(
            on: connection, store: CombinedSecretStore(store), consents: store, askers: [],
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try server.start(replacing: false) {}
        client = SecretClient(try BusConnection(to: .custom(bus.address)))
    }

    /// Whether a call answers with a value, at a cost. It is repeated, because the announcement of earlier changes also
    /// opens the keychain, at any time.
    func answers<Value: Equatable>(_ expected: Value, at cost: Counts, _ call: () throws -> Value) -> Bool {
        eventually {
            let before = counts
            guard let value = try? call() else { return false }
            return value == expected
                && Counts(tried: counts.tried - before.tried, opened: counts.opened - before.opened) == cost
        }
    }

    /// Returns how often it is tried to answer the calls of `body` at once.
    func attempts(_ body: () throws -> Void) rethrows -> Int {
        let before = counts.tried
        try body()
        return counts.tried - before
    }

    var counts: Counts { counter.counts.withLock { $0 } }

    /// Whether the next call that opens the keychain waits there, until this is false again.
    func setPaused(_ isPaused: Bool) { counter.isPaused.withLock { $0 = isPaused } }

    private final class Counter: Sendable {
        let counts = Mutex(Counts())
        let isPaused = Mutex(false)

        func pause() { _ = eventually { !isPaused.withLock { $0 } } }
    }

    deinit {
        server.stop()
        connection.close()
    }
}

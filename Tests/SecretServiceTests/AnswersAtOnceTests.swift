// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyOperations
import SecretMemory
@testable import SecretService
import Synchronization
import SystemBus
import Testing

/// The calls that are answered on the thread of the bus.
@Suite("Calls that are answered at once", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"))
struct AnswersAtOnceTests {
    private typealias Counts = CountingWorld.Counts

    /// Stores items that have the attribute `all`.
    private static func fill(_ world: CountingWorld, _ session: SecretClient.Session) throws -> [ObjectPath] {
        try (0..<70).map { try world.client.create("x", ["all": "1", "number": "\($0)"], session) }
    }

    @Test("A search with few hits, and the secrets and properties of items, need no other thread")
    func lookup() throws {
        let world = try CountingWorld()
        let client = world.client
        let session = try client.openEncrypted()
        let item = try client.create("s3cret", ["service": "a", "user": "b"], session)
        let atOnce = Counts(tried: 1)
        #expect(world.answers([item], at: atOnce) { try client.search(["service": "a"]).unlocked })
        #expect(world.answers([], at: atOnce) { try client.search(["service": "b"]).unlocked })
        #expect(world.answers([.objectPath(item)], at: atOnce) { try client.readable([item], session) })
        #expect(world.answers("s3cret", at: atOnce) { try client.secret(of: item, session).text })
        #expect(world.answers("label", at: atOnce) { try client.text("Label", of: item, "Item") })
    }

    @Test("A call that reads much or changes something runs on a thread of its own, with the same answer")
    func others() throws {
        let world = try CountingWorld()
        let client = world.client
        let session = try client.openPlain()
        let items = try Self.fill(world, session)
        // The collections and both classes of passwords are read in one session.
        let handedOver = Counts(tried: 1, opened: 1)
        #expect(world.answers(items.count, at: handedOver) { try client.search(["all": "1"]).unlocked.count })
        let large = try client.create(String(repeating: "x", count: 200_000), ["large": "1"], session)
        #expect(world.answers(200_000, at: handedOver) { try client.secret(of: large, session).text.utf8.count })
        let attempts = try world.attempts {
            let secrets = try client.readable(Array(items.prefix(17)), session)
            #expect(secrets.count == 17)
            _ = try client.create("y", ["all": "2"], session)
            _ = try client.text("Label", of: SecretClient.login, "Collection")
        }
        #expect(attempts == 0)
    }

    @Test("A locked keychain, and one that another process holds, are asked on a thread of their own")
    func waiting() throws {
        let world = try CountingWorld()
        let item = try world.client.create("x", ["a": "1"], try world.client.openPlain())
        try world.session.setPasscode(SharedSecret(copying: "passcode".utf8)) { _, _ in }
        try world.session.lock(immediately: true)
        let handedOver = Counts(tried: 1, opened: 1)
        #expect(world.answers([item], at: handedOver) { try world.client.search(["a": "1"]).locked })
        let served = try CountingWorld(.daemon)
        let other = try served.client.create("x", ["a": "1"], try served.client.openPlain())
        #expect(served.answers([other], at: handedOver) { try served.client.search(["a": "1"]).unlocked })
    }

    @Test("While a call is answered on a thread, the next one waits for its turn, and not for the thread of the bus")
    func turns() throws {
        let world = try CountingWorld()
        _ = try Self.fill(world, try world.client.openPlain())
        world.setPaused(true)
        let search = BusMethod(
            SecretClient.name, SecretClient.service, "org.freedesktop.Secret.Service", "SearchItems")
        let attempts = world.attempts {
            for attributes in [["all": "1"], ["number": "1"]] {
                #expect(throws: BusError.self) {
                    try world.client.bus.call(
                        search, [attributes.busValue], returning: [.paths, .paths], timeout: .milliseconds(500))
                }
            }
        }
        // The second one is not tried: the program has a call that is not answered.
        #expect(attempts <= 1)
        world.setPaused(false)
        #expect(try world.client.search(["number": "1"]).unlocked.count == 1)
    }

    /// Consents with a mode that a test sets.
    private final class ChangingConsents: ConsentStore {
        let mode = Mutex(ConsentMode.never)

        func consentMode() throws(SecretStoreError) -> ConsentMode { mode.withLock { $0 } }
        func consents() throws(SecretStoreError) -> Set<Consent> { [] }
        func keep(_ consents: [Consent]) throws(SecretStoreError) {}
    }

    @Test("A mode that a call has read from an older state of the keychain is not kept")
    func olderMode() throws {
        let store = MemorySecretStore(.login, label: "Login")
        let item = NewSecretItem(
            label: "label", attributes: try SecretAttributes(testing: ["a": "1"]),
            secret: SecretValue(SharedSecret(copying: "x".utf8), contentType: "text/plain"))
        let reference = try store.add(item, replacing: false, to: .login).reference
        let reader = SecretReader(connection: ":1.1", program: CallerIdentity(executable: "/usr/bin/example"))
        let consents = ChangingConsents()
        let consent = ReadingConsent(store, consents)
        consent.startKeepingRules()
        let isNeeded = try consent.noting { () throws(SecretStoreError) in
            // The person changes the mode after the call has begun, and the call does not see that.
            consent.invalidate()
            return try consent.isNeeded(for: reference, by: reader)
        }
        consents.mode.withLock { $0 = .always }
        #expect(try !isNeeded && consent.isNeeded(for: reference, by: reader))
    }
}

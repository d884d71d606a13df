// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Keybag
import KeychainModel
@testable import KeychainStore
import KeychainTesting
import LinuxSystem
import SQLiteConnections
import SecretMemory
import Synchronization
import Testing

/// When the keys of application passwords are derived, and how many.
@Suite("Derivations of application passwords")
struct DerivationTests {
    enum Operation: String, CaseIterable, Sendable { case search, pairs, update, transaction, add, addSeveral, rebind }

    @Test(
        "A key is derived while no connection reads and no transaction is open", arguments: Operation.allCases)
    func nothingIsHeld(_ operation: Operation) throws {
        let fixture = try ConstraintFixture()
        try fixture.add("alice", .applicationPassword)
        let probe = Probe()
        let path = fixture.files.path
        let password = try probe.password { probe.record(isFree: Self.isFree(path)) }
        let keys = fixture.store.constraintKeys()
        keys.setApplicationPassword(password)
        let search = Sample.search([.account: .string("alice")])
        let binding = ConstraintBinding(applicationPassword: password)
        switch operation {
        case .search: #expect(try fixture.text("alice", keys) == "data of alice")
        case .pairs:
            let pairs = PairSearch(certificates: search, keys: search)
            #expect(try fixture.store.pairs(pairs, limit: nil, constraints: keys).pairs.isEmpty)
        case .update: #expect(try fixture.store.update(search, constraints: ConstraintUse(keys)) { $0 } == 1)
        case .transaction:
            let count = try fixture.store.transaction(constraints: ConstraintUse(keys)) {
                (items) throws(StoreError) in
                _ = try items.addUnlessPresent(ConstraintFixture.item("bob", nil))
                return try items.update(search) { $0 }
            }
            #expect(count == 1)
            #expect(try fixture.store.search(Sample.search(), limit: nil, withSecrets: false).records.count == 2)
        case .add:
            _ = try fixture.store.add(ConstraintFixture.item("bob", .applicationPassword), binding: binding)
        case .addSeveral:
            _ = try fixture.store.add(
                [ConstraintFixture.item("bob", nil), ConstraintFixture.item("carol", .applicationPassword)],
                binding: binding)
        case .rebind:
            try fixture.add("bob", nil)
            let plain = Sample.search([.account: .string("bob")])
            let count = try fixture.store.update(plain, constraints: ConstraintUse(binding: binding)) { record in
                var changed = record
                changed.accessControlFlags = .applicationPassword
                return changed
            }
            #expect(count == 1)
            #expect(try fixture.row("bob").row.clear.revision == 2)
        }
        // An update also derives the key for storing the item again.
        #expect(probe.results == Array(repeating: true, count: [.update, .transaction].contains(operation) ? 2 : 1))
        #expect(try fixture.store.inspector.inspect().damaged.isEmpty)
    }

    @Test("One call derives at most 16 keys, and derives none if it needs more")
    func budget() throws {
        let fixture = try ConstraintFixture(hasPasscode: false)
        // Each item is stored with another object, so that each has a salt of its own.
        for number in 1...17 { try fixture.add("item \(number)", .applicationPassword) }
        let probe = Probe()
        let keys = fixture.store.constraintKeys()
        keys.setApplicationPassword(try probe.password {})
        func search(_ limit: Int?) throws -> Int {
            let found = try fixture.store.search(
                Sample.search(), limit: limit, withSecrets: true, constraints: keys)
            return found.records.count { $0.secrets != nil }
        }
        func isTooMany(_ error: any Error) -> Bool {
            if case StoreError.tooManyDerivations(let max) = error { max == 16 } else { false }
        }
        #expect { try search(nil) } throws: { isTooMany($0) }
        #expect {
            try fixture.store.update(Sample.search(), constraints: ConstraintUse(keys)) { $0 }
        } throws: {
            isTooMany($0)
        }
        #expect(probe.results.isEmpty)
        #expect(try search(1) == 1)
        #expect(probe.results.count == 1, "a limited search derives for what it returns")
        #expect(try search(16) == 16)
        #expect(try search(nil) == 17)
        #expect(probe.results.count == 17)
    }

    @Test("Without the other proofs that an item requires, no key is derived for it")
    func otherProofsFirst() throws {
        let fixture = try ConstraintFixture()
        try fixture.add("alice", [.devicePasscode, .applicationPassword])
        let probe = Probe()
        let keys = fixture.store.constraintKeys()
        keys.setApplicationPassword(try probe.password {})
        #expect(try fixture.text("alice", keys) == nil)
        #expect(probe.results.isEmpty)
    }

    @Test("A cancelled call stops between two derivations and changes nothing")
    func cancelled() throws {
        let fixture = try ConstraintFixture(hasPasscode: false)
        for account in ["alice", "bob"] { try fixture.add(account, .applicationPassword) }
        let probe = Probe()
        let cancellation = Cancellation()
        let keys = fixture.store.constraintKeys()
        keys.setApplicationPassword(try probe.password { cancellation.request() })
        #expect {
            try Cancellation.$current.withValue(cancellation) {
                _ = try fixture.store.update(Sample.search(), constraints: ConstraintUse(keys)) { $0 }
            }
        } throws: { error in
            if case StoreError.cancelled = error { true } else { false }
        }
        #expect(probe.results.count == 1)
        #expect(try fixture.row("alice").row.clear.revision == 1)
    }

    @Test("A lock during a derivation wipes the released keys of the evaluation")
    func lockedMeanwhile() throws {
        let fixture = try ConstraintFixture()
        try fixture.add("alice", [.devicePasscode, .applicationPassword], .always)
        let keys = try fixture.keys(passcode: "secret")
        let store = fixture.store
        keys.setApplicationPassword(try Probe().password { store.lock(immediately: true) })
        let found = try fixture.find("alice", keys)
        #expect(found.records.map(\.secrets) == [nil] && keys.isEmpty)
    }

    @Test("An item is never stored under the salt of an item that was read")
    func ownSalt() throws {
        let fixture = try ConstraintFixture(hasPasscode: false)
        let cost = PasscodeCost(exponent: 4)
        func salt(_ account: String) throws -> [UInt8] {
            let record = try ConstraintRecord(decoding: try #require(try fixture.row(account).row.constraint))
            return try #require(record.password).salt
        }
        try fixture.add("alice", .applicationPassword)
        let password = try ApplicationPassword(SharedSecret(copying: "app".utf8), cost: cost)
        let keys = fixture.store.constraintKeys()
        keys.setApplicationPassword(password)
        let before = try salt("alice")
        #expect(try fixture.text("alice", keys) == "data of alice")
        _ = try fixture.store.add(
            ConstraintFixture.item("bob", .applicationPassword),
            binding: ConstraintBinding(applicationPassword: password)
        )
        #expect(try salt("bob") != before)
        _ = try fixture.store.update(
            Sample.search([.account: .string("alice")]), constraints: ConstraintUse(keys)
        ) { $0 }
        #expect(try salt("alice") == salt("bob"), "the items that one object stores share its own salt")
        #expect(try fixture.text("alice", fixture.keys(password: "app")) == "data of alice")
    }

    /// Whether no connection of the process reads the database or has a transaction. Waits while
    /// the log is being emptied.
    private static func isFree(_ path: String) -> Bool {
        guard let database = try? Database(path) else { return false }
        for _ in 1...200 {
            if (try? database.execute("BEGIN IMMEDIATE; ROLLBACK")) != nil,
                (try? database.numbers("PRAGMA wal_checkpoint(TRUNCATE)")) == [0]
            {
                return true
            }
            usleep(10_000)
        }
        return false
    }
}

/// Counts derivations, and records whether the database was free during each.
private final class Probe: Sendable {
    private let found = Mutex<[Bool]>([])

    var results: [Bool] { found.withLock { $0 } }

    func record(isFree: Bool) { found.withLock { $0[$0.count - 1] = isFree } }

    func password(_ willDerive: @escaping @Sendable () -> Void) throws -> ApplicationPassword {
        try ApplicationPassword(SharedSecret(copying: "app".utf8), cost: PasscodeCost(exponent: 4)) {
            self.found.withLock { $0.append(true) }
            willDerive()
        }
    }
}

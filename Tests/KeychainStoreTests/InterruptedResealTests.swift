// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Keybag
import KeychainModel
@testable import KeychainStore
import KeychainTesting
import SQLiteConnections
import SecretMemory
import Testing

/// Shares of constrained rows, in a keychain after a kill of its process between two batches.
@Suite("Interrupted reseals of constrained rows")
struct InterruptedResealTests {
    @Test(
        "A rotation that was interrupted between two batches is completed by the next unlock", .long,
        arguments: [AccessControlFlags.userPresence, [.devicePasscode, .applicationPassword]])
    func rotation(_ flags: AccessControlFlags) throws {
        let fixture = try ConstraintFixture()
        // A class that a passcode does not protect: only the shares must be sealed again.
        try fixture.addMany(Snapshot.count, flags, .always)
        let snapshot = try Snapshot(of: fixture)
        try fixture.store.passcode.change(
            from: ConstraintFixture.passcode("secret"), to: ConstraintFixture.passcode("second"), rotates: true,
            cost: ConstraintFixture.cost
        ) { done, total in snapshot.takeIfBetween(done, total) }
        try snapshot.requireInterrupted()
        let store = try snapshot.open()
        #expect(throws: StoreError.self) {
            try store.unlock(ConstraintFixture.passcode("secret"), floor: ConstraintFixture.cost)
        }
        // Before the unlock the new passcode opens the rows of both kinds.
        let keys = store.constraintKeys()
        try store.satisfy(keys, with: ConstraintFixture.passcode("second"))
        keys.setApplicationPassword(try ConstraintFixture.password())
        try snapshot.expectReadable(store, keys)
        try store.unlock(ConstraintFixture.passcode("second"), floor: ConstraintFixture.cost)
        try snapshot.expectComplete(store, keys)
        store.close()
    }
}

/// A copy of a keychain, as a process leaves it that is killed between two batches.
final class Snapshot {
    private let fixture: ConstraintFixture
    private let path: String
    private var isTaken = false

    /// More rows than one batch has.
    static let count = 400

    init(of fixture: ConstraintFixture) throws {
        self.fixture = fixture
        path = "\(fixture.files.temporary.path)/copy.db"
        #expect(FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]))
    }

    /// Copies the database if a batch is done and another one follows.
    func takeIfBetween(_ done: Int, _ total: Int) {
        guard !isTaken, done > 0, done < total else { return }
        do {
            try Database(fixture.files.path).execute("VACUUM INTO '\(path)'")
            // Only the copy's header has another mode.
            try Database(path).execute("PRAGMA journal_mode = WAL")
            isTaken = true
        } catch {
            Issue.record("the keychain could not be copied: \(error)")
        }
    }

    func open() throws -> KeychainStore { try fixture.files.open(path) }

    /// The number of rows by their revision.
    private func revisions() throws -> [Int: Int] {
        let rows = try Database(path).rows("SELECT revision, count(*) FROM item GROUP BY revision") {
            (Int($0.integer(0)), Int($0.integer(1)))
        }
        return Dictionary(uniqueKeysWithValues: rows)
    }

    func requireInterrupted() throws {
        try #require(isTaken)
        let found = try revisions()
        #expect(Set(found.keys) == [1, 2] && found.values.reduce(0, +) == Self.count)
        let store = try open()
        #expect(try store.refresh().isResealing)
        store.close()
    }

    func expectReadable(_ store: KeychainStore, _ keys: ConstraintKeys) throws {
        let found = try store.search(Sample.search(), limit: nil, withSecrets: true, constraints: keys)
        #expect(found.damaged.isEmpty && found.records.count { $0.secrets != nil } == Self.count)
    }

    func expectComplete(_ store: KeychainStore, _ keys: ConstraintKeys) throws {
        try expectReadable(store, keys)
        #expect(try revisions() == [2: Self.count])
        #expect(try !store.refresh().isResealing)
        #expect(try store.inspector.inspect().damaged.isEmpty)
    }
}

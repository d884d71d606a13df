// SPDX-License-Identifier: Apache-2.0

import Crypto
@testable import Keybag
import KeychainModel
@testable import KeychainStore
import KeychainTesting
import SecretMemory
import Testing

/// A process that can write the files, and even one that holds the class keys, opens no constrained item without the
/// key that its constraint yields.
@Suite("Attacks on constraints")
struct ConstraintAttackTests {
    @Test("With the class keys, cleared flags and a removed constraint do not open the secret half")
    func clearedFlags() throws {
        let fixture = try ConstraintFixture()
        try fixture.add("alice", .devicePasscode)
        let (row, seal) = try fixture.row("alice")
        var record = try seal.open(row)
        record.accessControlFlags = nil
        let group = seal.tokens.group(record.accessGroup)
        // The attacker seals a metadata half without flags, in both forms.
        for constraint in [nil, try seal.constraint(of: row)] {
            var forged = row
            forged.constraint = constraint?.encoded
            forged.metadata = try seal.sealMetadata(
                of: record, RowSeal.Place(clear: row.clear, group: group, constraint: constraint))
            if constraint == nil {
                #expect(try seal.open(forged).accessControlFlags == nil)
            } else {
                #expect(throws: RowSeal.Failure.self) { _ = try seal.open(forged) }
            }
            #expect(throws: RowSeal.Failure.self) { _ = try seal.openSecrets(of: forged) }
            #expect(throws: RowSeal.Failure.self) { _ = try seal.openWhole(forged) }
        }
        // The class key yields only a key that the constraint key has wrapped.
        let inner = try seal.unwrap(row.secret[..<RowSeal.constrainedKeyLength], of: .secret, row.clear)
        #expect(inner.bitCount == 40 * 8)
        var unwrapped = row
        unwrapped.constraint = nil
        let wrapped = inner.withUnsafeBytes { Array($0) }
        unwrapped.secret = wrapped + row.secret[RowSeal.constrainedKeyLength...]
        #expect(throws: RowSeal.Failure.self) { _ = try seal.openSecrets(of: unwrapped) }
    }

    @Test("With the class keys, a constraint of the attacker's own keychain does not open the item")
    func foreignConstraint() throws {
        let fixture = try ConstraintFixture()
        try fixture.add("alice", .devicePasscode)
        let other = try ConstraintFixture()
        let constraints = try #require(try AccessConstraints.parse(.devicePasscode))
        let (row, seal) = try fixture.row("alice", fixture.keys(passcode: "secret"))
        let forged = try other.row(try other.add("bob", .devicePasscode)[.account]?.text ?? "").seal.keyring.presence
            .seal(constraints, item: row.clear.identifier.bytes, revision: row.clear.revision, ConstraintBinding())
        var changed = row
        changed.constraint = forged.record.encoded
        #expect(throws: RowSeal.Failure.self) { _ = try seal.openWhole(changed) }
        // Keys of another keychain are not of use either.
        let keys = try other.keys(passcode: "secret")
        #expect(throws: RowSeal.Failure.self) {
            _ = try seal.with(seal.keyring, ConstraintUse(keys)).openWhole(row)
        }
        #expect(try seal.openWhole(row).text == "data of alice")
    }

    /// SQL that changes the closed database. Row 1 is constrained, row 2 as well, row 3 is plain.
    static let changes = [
        "UPDATE item SET access_constraint = NULL WHERE id = 1",
        "UPDATE item SET access_constraint = x'' WHERE id = 1",
        "UPDATE item SET access_constraint = 7 WHERE id = 1",
        "UPDATE item SET access_constraint = (SELECT access_constraint FROM item WHERE id = 2) WHERE id = 1",
        "UPDATE item SET access_constraint = (SELECT access_constraint FROM item WHERE id = 1) WHERE id = 3",
        "UPDATE item SET access_constraint = zeroblob(100000) WHERE id = 1",
        "UPDATE item SET secret = (SELECT secret FROM item WHERE id = 3) WHERE id = 1",
        "UPDATE item SET secret = (SELECT secret FROM item WHERE id = 3), access_constraint = NULL WHERE id = 1",
        "UPDATE item SET revision = 2 WHERE id = 1",
        "UPDATE item SET generation = 1 WHERE id = 1",
    ]

    @Test("A removed, exchanged or malformed constraint damages the row, and opens nothing", arguments: changes)
    func changedColumns(_ sql: String) throws {
        let fixture = try ConstraintFixture()
        try fixture.add("alice", .devicePasscode)
        try fixture.add("bob", .devicePasscode)
        try fixture.add("carol", nil)
        try fixture.reopen { try fixture.files.tamper(sql) }
        let target = sql.hasSuffix("3") ? "carol" : "alice"
        for keys in [nil, try fixture.keys(passcode: "secret")] {
            let found = try fixture.find(target, keys)
            #expect(found.records.allSatisfy { $0.secrets == nil })
            // Without the constraint, the metadata half does not depend on the secret half.
            if keys != nil || !sql.contains("secret =") || sql.contains("NULL") {
                #expect(found.damaged.count == 1, "\(found)")
            }
        }
        #expect(try fixture.text("bob", fixture.keys(passcode: "secret")) == "data of bob")
    }

    @Test(
        "Columns of an older revision of a constrained row do not open with the newer ones",
        arguments: [["access_constraint"], ["secret"], ["metadata"], ["access_constraint", "secret"]])
    func olderRevision(_ columns: [String]) throws {
        let fixture = try ConstraintFixture()
        try fixture.add("alice", .devicePasscode)
        let old = try fixture.row("alice").row
        let keys = try fixture.keys(passcode: "secret")
        _ = try fixture.store.update(Sample.search(), constraints: ConstraintUse(keys)) { $0 }
        let (new, seal) = try fixture.row("alice", keys)
        #expect(try seal.openWhole(new).text == "data of alice")
        var mixed = new
        if columns.contains("access_constraint") { mixed.constraint = old.constraint }
        if columns.contains("secret") { mixed.secret = old.secret }
        if columns.contains("metadata") { mixed.metadata = old.metadata }
        #expect(throws: RowSeal.Failure.self) { _ = try seal.openWhole(mixed) }
    }

    @Test("A copied database with its device key, but without the passcode, opens no constrained item")
    func copied() throws {
        let fixture = try ConstraintFixture()
        // The class that is open without a passcode: only the constraint protects the item.
        try fixture.add("alice", .userPresence, .always)
        try fixture.add("bob", [.userPresence, .applicationPassword], .always)
        try fixture.reopen(nil)
        #expect(fixture.store.lockState == .beforeFirstUnlock)
        let keys = try fixture.keys(password: "app")
        for account in ["alice", "bob"] {
            let found = try fixture.find(account, keys)
            #expect(found.records.count == 1 && found.records.first?.needsAuthentication != nil)
            #expect(found.records.first?.secrets == nil)
        }
        #expect(throws: StoreError.self) { _ = try fixture.keys(passcode: "wrong one") }
        // The device key alone opens no private presence key.
        let wrappings = try fixture.store.refresh().record.pairs.flatMap { $0.wrapped.map(\.wrapping) }
        #expect(wrappings == [.user, .user])
    }

    @Test("A program that removes and sets the passcode of an open keychain does not become the person")
    func ownPasscode() throws {
        let fixture = try ConstraintFixture()
        let flags: [AccessControlFlags] = [.userPresence, .devicePasscode, .biometryAny, .biometryCurrentSet]
        for (number, flags) in flags.enumerated() { try fixture.add("item \(number)", flags, .always) }
        let rows = try (0..<flags.count).map { try fixture.row("item \($0)").row }
        #expect(try fixture.store.passcode.remove(ConstraintFixture.passcode("secret")) == flags.count)
        #expect(try fixture.find("item 0").records.isEmpty)
        // The program has kept copies of the rows, and sets a passcode of its own.
        try fixture.store.passcode.set(ConstraintFixture.passcode("of a program"), cost: ConstraintFixture.cost)
        let keys = try fixture.keys(passcode: "of a program", set: ConstraintFixture.set)
        let seal = try fixture.store.read(ConstraintUse(keys)) { (_, seal) throws(StoreError) in seal }
        for row in rows {
            #expect(throws: RowSeal.Failure.self) { _ = try seal.openWhole(row) }
        }
    }

    @Test("A keybag of an older generation does not satisfy items that were sealed to newer pairs")
    func olderKeybag() throws {
        let fixture = try ConstraintFixture()
        try fixture.add("alice", .devicePasscode, .always)
        let replacing = try fixture.files.replacingKeybag()
        try fixture.store.passcode.change(
            from: ConstraintFixture.passcode("secret"), to: ConstraintFixture.passcode("newer one"), rotates: true,
            cost: ConstraintFixture.cost)
        fixture.store.close()
        try fixture.files.tamper(replacing)
        try fixture.reopen()
        let found = try fixture.find("alice", fixture.keys(passcode: "secret", set: ConstraintFixture.set))
        #expect(found.records.map(\.secrets) == [nil])
        #expect(found.records.first?.needsAuthentication != nil)
    }

    @Test("Any flipped byte of a constrained row gives damage or the right answer, and never data without the person")
    func everyByte() throws {
        let fixture = try ConstraintFixture()
        try fixture.add("alice", [.devicePasscode, .biometryCurrentSet, .and, .applicationPassword])
        let keys = try fixture.keys(passcode: "secret", set: ConstraintFixture.set, password: "app")
        let (row, satisfied) = try fixture.row("alice", keys)
        let unsatisfied = satisfied.with(satisfied.keyring)
        #expect(try satisfied.openWhole(row).text == "data of alice")
        let constraint = try #require(row.constraint)
        var opened = 0
        func check(_ changed: ItemRow, _ place: String) {
            #expect(throws: RowSeal.Failure.self, "\(place)") { _ = try unsatisfied.openWhole(changed) }
            guard let record = try? satisfied.openWhole(changed) else { return }
            opened += 1
            #expect(record.text == "data of alice", "\(place)")
        }
        for index in row.metadata.indices {
            var changed = row
            changed.metadata[index] ^= 1
            check(changed, "metadata \(index)")
        }
        for index in row.secret.indices {
            var changed = row
            changed.secret[index] ^= 1
            check(changed, "secret \(index)")
        }
        for index in constraint.indices {
            var changed = row
            changed.constraint?[index] ^= 1
            check(changed, "constraint \(index)")
            changed.constraint = Array(constraint.prefix(index))
            check(changed, "constraint prefix \(index)")
        }
        #expect(opened == 0, "a changed row was opened")
    }
}

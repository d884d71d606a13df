// SPDX-License-Identifier: Apache-2.0

@testable import Keybag
import KeychainModel
@testable import KeychainStore
import KeychainTesting
import LinuxSystem
import SecretMemory
import Testing

/// Items with constraints through every operation of the store.
@Suite("Constrained items")
struct ConstrainedItemTests {
    static let presence: [AccessControlFlags] = [
        .userPresence, .devicePasscode, [.devicePasscode, .biometryAny, .or],
        [.devicePasscode, .applicationPassword], [.userPresence, .applicationPassword],
    ]

    @Test(
        "An item is added without the person; only the satisfied constraint returns its data", arguments: presence
    )
    func addAndRead(_ flags: AccessControlFlags) throws {
        let fixture = try ConstraintFixture()
        try fixture.add("alice", flags)
        let found = try fixture.find("alice")
        let record = try #require(found.records.first)
        #expect(record.needsAuthentication == (try AccessConstraints.parse(flags)))
        #expect(record.secrets == nil && record.accessControlFlags == flags)
        #expect(record[.label]?.text == "label of alice")
        #expect(try fixture.text("alice", fixture.keys()) == nil)
        let keys = try fixture.keys(passcode: "secret", password: "app")
        let opened = try #require(try fixture.find("alice", keys).records.first)
        #expect(opened.text == "data of alice" && opened.needsAuthentication == nil)
        // Without returning secrets, the record says that they would open.
        let checked = try fixture.store.search(Sample.search(), limit: nil, withSecrets: false, constraints: keys)
        #expect(checked.records.map(\.needsAuthentication) == [nil] && checked.records.first?.secrets == nil)
        fixture.store.lock(immediately: true)
        try fixture.store.unlock(ConstraintFixture.passcode("secret"), floor: ConstraintFixture.cost)
        #expect(try fixture.text("alice", keys) == nil, "what was released before the lock opens an item")
    }

    @Test("Every kind of biometry opens its items; without the key of biometry none does")
    func biometry() throws {
        let fixture = try ConstraintFixture()
        try fixture.add("any", .biometryAny)
        try fixture.add("current", .biometryCurrentSet)
        let same = try fixture.keys(set: ConstraintFixture.set)
        #expect(try fixture.text("any", same) == "data of any")
        #expect(try fixture.text("current", same) == "data of current")
        #expect(try fixture.text("any", fixture.keys(passcode: "secret")) == nil)
        // T189, T190: a finger was added.
        let other = try fixture.keys(set: ConstraintFixture.otherSet)
        #expect(try fixture.text("any", other) == "data of any")
        let lost = try fixture.find("current", other)
        #expect(lost.records.isEmpty && lost.damaged.isEmpty && lost.lost.count == 1)
        #expect {
            _ = try fixture.store.update(
                Sample.search([.account: .string("current")]), constraints: ConstraintUse(other)
            ) { $0 }
        } throws: { error in
            if case StoreError.constraintLost = error { true } else { false }
        }
        let search = ItemSearch(
            .genericPassword, groups: .only([Sample.group]), synchronizable: .any, identifier: lost.lost.first)
        #expect(try fixture.store.remove(search, now: 200) == 1)
        #expect(try fixture.find("current").records.isEmpty)
    }

    @Test("A wrong application password opens nothing and is reported for its item only")
    func applicationPassword() throws {
        let fixture = try ConstraintFixture(hasPasscode: false)
        try fixture.add("alice", .applicationPassword)
        try fixture.add("bob", nil)
        #expect(try fixture.text("alice", fixture.keys(password: "app")) == "data of alice")
        let wrong = try fixture.store.search(
            Sample.search(), limit: nil, withSecrets: true, constraints: fixture.keys(password: "ape"))
        #expect(wrong.records.map(\.text) == [nil, "data of bob"])
        #expect(wrong.wrongPasswords.count == 1 && wrong.damaged.isEmpty)
        #expect {
            _ = try fixture.store.update(
                Sample.search([.account: .string("alice")]),
                constraints: ConstraintUse(try fixture.keys(password: "ape"))
            ) { $0 }
        } throws: { error in
            if case StoreError.wrongApplicationPassword = error { true } else { false }
        }
    }

    @Test("Without a passcode nothing is stored that it would protect")
    func noPasscode() throws {
        let fixture = try ConstraintFixture(hasPasscode: false)
        for flags in [AccessControlFlags.userPresence, .devicePasscode, .biometryAny, .biometryCurrentSet] {
            #expect {
                try fixture.add("alice", flags)
            } throws: { error in
                if case StoreError.keybag(.constraintNeedsPasscode) = error { true } else { false }
            }
        }
        #expect(throws: StoreError.self) { try fixture.add("alice", AccessControlFlags(rawValue: 1 << 5)) }
        #expect(throws: StoreError.self) { _ = try fixture.keys(passcode: "secret") }
        #expect(try fixture.find("alice").records.isEmpty)
    }

    @Test("An update makes a plain item constrained without the person; back, and any change, needs the person")
    func update() throws {
        let fixture = try ConstraintFixture()
        try fixture.add("alice", nil)
        let search = Sample.search([.account: .string("alice")])
        func set(_ flags: AccessControlFlags?, _ use: ConstraintUse) throws {
            _ = try fixture.store.update(search, constraints: use) { record in
                var changed = record
                changed.accessControlFlags = flags
                return changed
            }
        }
        try set(.userPresence, ConstraintUse())
        #expect(try fixture.text("alice") == nil)
        #expect {
            try set(nil, ConstraintUse())
        } throws: { error in
            if case StoreError.authenticationNeeded = error { true } else { false }
        }
        let keys = try fixture.keys(passcode: "secret", password: "app")
        // Changes to another constraint that the same person satisfies.
        try set([.devicePasscode, .applicationPassword], ConstraintUse(keys))
        #expect(try fixture.text("alice", fixture.keys(passcode: "secret")) == nil)
        #expect(try fixture.text("alice", keys) == "data of alice")
        // A change that keeps the constraint binds it again.
        try set([.devicePasscode, .applicationPassword], ConstraintUse(keys))
        #expect(try fixture.row("alice").row.clear.revision == 4)
        try set(nil, ConstraintUse(keys))
        #expect(try fixture.text("alice") == "data of alice")
        #expect(try fixture.row("alice").row.constraint == nil)
    }

    @Test("A constrained item is deleted without the person, and its key is a duplicate until then")
    func deletion() throws {
        let fixture = try ConstraintFixture()
        try fixture.add("alice", [.biometryCurrentSet, .applicationPassword])
        #expect {
            try fixture.add("alice", nil)
        } throws: { error in
            if case StoreError.duplicate = error { true } else { false }
        }
        #expect(try fixture.store.inspector.inspect().damaged.isEmpty)
        #expect(try fixture.store.remove(Sample.search([.account: .string("alice")]), now: 200) == 1)
        try fixture.add("alice", nil)
        #expect(try fixture.text("alice") == "data of alice")
    }

    @Test("A constraint is no substitute for the class: a closed class is reported before a missing person")
    func closedClass() throws {
        let fixture = try ConstraintFixture()
        try fixture.add("alice", .devicePasscode, .whenUnlocked)
        try fixture.add("bob", .devicePasscode, .afterFirstUnlock)
        fixture.store.lock(immediately: true)
        #expect {
            _ = try fixture.find("alice")
        } throws: { error in
            if case StoreError.keybag(.closed) = error { true } else { false }
        }
        // A passcode that is verified while the keychain is locked satisfies, and does not unlock.
        let keys = try fixture.keys(passcode: "secret")
        #expect(try fixture.text("bob", keys) == "data of bob")
        #expect(throws: StoreError.self) { _ = try fixture.find("alice", keys) }
        #expect(fixture.store.lockState == .locked)
        #expect(throws: StoreError.self) { _ = try fixture.keys(set: ConstraintFixture.set) }
    }

    @Test("Wrong passcodes are counted and delayed in an evaluation as in an unlock")
    func counted() throws {
        let fixture = try ConstraintFixture()
        try fixture.enterWrongPasscodes(5)
        #expect {
            _ = try fixture.keys(passcode: "secret")
        } throws: { error in
            if case StoreError.keybag(.passcodeDelay) = error { true } else { false }
        }
    }

    @Test("Items stay constrained and readable when the passcode is changed and rotated")
    func passcodeChanges() throws {
        let fixture = try ConstraintFixture()
        let classes = ProtectionClass.allCases.filter { !$0.requiresPasscode }
        for protection in classes {
            try fixture.add("presence \(protection)", .userPresence, protection)
            try fixture.add(
                "both \(protection)", [.devicePasscode, .biometryCurrentSet, .applicationPassword], protection)
        }
        func expectReadable(_ passcode: String, _ step: String) throws {
            let keys = try fixture.keys(passcode: passcode, set: ConstraintFixture.set, password: "app")
            for protection in classes {
                for account in ["presence \(protection)", "both \(protection)"] {
                    #expect(try fixture.text(account, keys) == "data of \(account)", "\(step)")
                    #expect(try fixture.text(account) == nil)
                }
            }
            #expect(try fixture.store.inspector.inspect().damaged.isEmpty)
        }
        try expectReadable("secret", "set")
        func change(_ old: String, _ new: String, rotates: Bool) throws {
            try fixture.store.passcode.change(
                from: ConstraintFixture.passcode(old), to: ConstraintFixture.passcode(new), rotates: rotates,
                cost: ConstraintFixture.cost)
        }
        try change("secret", "second", rotates: false)
        try expectReadable("second", "changed")
        try change("second", "third one", rotates: true)
        try expectReadable("third one", "rotated")
        try fixture.reopen("third one")
        try expectReadable("third one", "opened again")
    }

    @Test("T192: the removal of the passcode counts, then deletes, the items that nothing else opens")
    func removedPasscode() throws {
        let fixture = try ConstraintFixture()
        let bound: [AccessControlFlags] = [
            .userPresence, .devicePasscode, .biometryAny, .biometryCurrentSet, [.devicePasscode, .biometryAny, .or],
            [.devicePasscode, .applicationPassword],
        ]
        for (number, flags) in bound.enumerated() { try fixture.add("bound \(number)", flags, .always) }
        try fixture.add("passcode class", nil, .whenPasscodeSetThisDeviceOnly)
        try fixture.add("both", .devicePasscode, .whenPasscodeSetThisDeviceOnly)
        try fixture.add("password", .applicationPassword)
        try fixture.add("plain", nil)
        #expect(try fixture.store.passcode.itemsRequiringIt == bound.count + 2)
        #expect(try fixture.store.passcode.remove(ConstraintFixture.passcode("secret")) == bound.count + 2)
        #expect(try fixture.store.passcode.itemsRequiringIt == 0)
        #expect(throws: StoreError.self) { _ = try fixture.keys(passcode: "secret") }
        #expect(throws: StoreError.self) { _ = try fixture.keys(set: ConstraintFixture.set) }
        for _ in 1...2 {
            let kept = try fixture.store.search(
                Sample.search(), limit: nil, withSecrets: true, constraints: fixture.keys(password: "app"))
            #expect(kept.records.map(\.text) == ["data of password", "data of plain"])
            #expect(try fixture.store.inspector.inspect().damaged.isEmpty)
            if !fixture.store.hasPasscode {
                try fixture.store.passcode.set(ConstraintFixture.passcode("second"), cost: ConstraintFixture.cost)
            }
        }
    }

    @Test("The tenth wrong passcode deletes items of presence, and keeps items of an application password alone")
    func wiped() throws {
        let fixture = try ConstraintFixture()
        try fixture.add("presence", .userPresence, .always)
        try fixture.add("password", .applicationPassword, .always)
        try fixture.add("plain", nil, .always)
        try fixture.store.administration.changeSettings(
            to: KeybagSettings(wipesAfterTen: true), ConstraintFixture.passcode("secret"))
        try fixture.enterWrongPasscodes(10)
        #expect(!fixture.store.hasPasscode)
        #expect(try fixture.find("presence").records.isEmpty)
        #expect(try fixture.text("password", fixture.keys(password: "app")) == "data of password")
        #expect(try fixture.text("plain") == "data of plain")
    }

    @Test("A backup leaves constrained items out, and a restore does not replace them", arguments: [true, false])
    func backup(merges: Bool) throws {
        let fixture = try ConstraintFixture()
        try fixture.add("alice", nil)
        try fixture.add("bob", .devicePasscode)
        let backup = BackupInMemory()
        let report = try fixture.store.backups.write(
            under: ConstraintFixture.passcode("passphrase"), passcode: ConstraintFixture.passcode("secret"),
            cost: ConstraintFixture.cost, now: 1000, to: backup.write)
        #expect(report.portable == 1 && report.staying == 1 && report.damaged == 0)
        // In the meantime the other item becomes constrained.
        _ = try fixture.store.update(Sample.search([.account: .string("alice")])) { record in
            var changed = record
            changed.accessControlFlags = .devicePasscode
            return changed
        }
        let restored = try fixture.store.backups.restore(
            under: ConstraintFixture.passcode("passphrase"), passcode: ConstraintFixture.passcode("secret"),
            merges: merges, dryRun: false,
            from: backup.read(into:))
        #expect(try fixture.text("bob", fixture.keys(passcode: "secret")) == "data of bob")
        #expect(restored.kept == 1 && restored.added == 0 && restored.replaced == 0)
        #expect(try fixture.text("alice") == nil)
        #expect(try fixture.text("alice", fixture.keys(passcode: "secret")) == "data of alice")
    }

    @Test("A recovery keeps constrained items that may leave the device, and deletes those that cannot open again")
    func recovery() throws {
        let fixture = try ConstraintFixture()
        try fixture.add("portable", .devicePasscode, .whenUnlocked)
        try fixture.add("bound", .devicePasscode, .whenUnlockedThisDeviceOnly)
        let recovery = try fixture.store.administration.createRecoveryKey(ConstraintFixture.passcode("secret"))
        let fresh = DeviceKey.ephemeral()
        fixture.store.close()
        func recover(dryRun: Bool) throws -> Int {
            try KeychainStore.recover(
                path: fixture.files.path, with: recovery,
                newPasscode: dryRun ? nil : ConstraintFixture.passcode("new one"), cost: ConstraintFixture.cost,
                attempts: PasscodeAttempts(inMemory: .system)
            ) { (_, _) throws(KeybagError) in fresh }
        }
        #expect(try recover(dryRun: true) == 1)
        #expect(try recover(dryRun: false) == 1)
        let store = try StoreFixture.open(fixture.files.path, fresh)
        try store.unlock(ConstraintFixture.passcode("new one"), floor: ConstraintFixture.cost)
        let keys = store.constraintKeys()
        try store.satisfy(keys, with: ConstraintFixture.passcode("new one"))
        let found = try store.search(Sample.search(), limit: nil, withSecrets: true, constraints: keys)
        #expect(found.records.map(\.text) == ["data of portable"] && found.damaged.isEmpty)
        store.close()
    }
}

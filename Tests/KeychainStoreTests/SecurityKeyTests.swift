// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Keybag
import KeychainModel
@testable import KeychainStore
import KeychainTesting
import LinuxSystem
import SecretMemory
import Testing

/// Security keys and the items that they open.
@Suite("Security keys of a keychain")
struct SecurityKeyTests {
    /// A security key of the tests, with the secret that the device derives for its credential.
    struct Device {
        let enrollment: SecurityKeyEnrollment
        let secret: SharedSecret
        var identifier: SecurityKeyIdentifier { enrollment.identifier }

        init(_ number: UInt8, name: String = "blue key") throws {
            enrollment = try SecurityKeyEnrollment(
                credential: Array(repeating: number, count: 200), alwaysVerifies: number.isMultiple(of: 2),
                name: name, created: Double(number))
            secret = SharedSecret(copying: Array(repeating: number, count: 32))
        }

        func enroll(
            in fixture: ConstraintFixture, satisfiesUserPresence: Bool = false, evaluation: ConstraintKeys? = nil
        ) throws {
            try fixture.store.securityKeys.enroll(
                enrollment, secret: secret, satisfiesUserPresence: satisfiesUserPresence,
                passcode: ConstraintFixture.passcode("secret"), evaluation: evaluation)
        }

        func touched(in fixture: ConstraintFixture) throws -> ConstraintKeys {
            let keys = fixture.store.constraintKeys()
            try fixture.store.satisfy(keys, with: secret, of: identifier)
            return keys
        }
    }

    private static func isRefused(_ error: any Error, _ isExpected: (KeybagError) -> Bool) -> Bool {
        if case StoreError.keybag(let error) = error { isExpected(error) } else { false }
    }

    @Test("An enrolled security key opens its items after a touch, and the passcode alone does not")
    func opens() throws {
        let fixture = try ConstraintFixture()
        #expect {
            try fixture.add("early", .latchkeySecurityKey)
        } throws: {
            Self.isRefused($0) { if case .presenceKeyMissing(.securityKey) = $0 { true } else { false } }
        }
        let device = try Device(1)
        try device.enroll(in: fixture)
        try fixture.add("touch", .latchkeySecurityKey)
        try fixture.add("both", [.latchkeySecurityKey, .devicePasscode, .and])
        try fixture.add("one", [.latchkeySecurityKey, .devicePasscode, .or])
        try fixture.add("presence", .userPresence)
        func opened(_ keys: ConstraintKeys) throws -> [String] {
            try ["touch", "both", "one", "presence"].filter { try fixture.text($0, keys) != nil }
        }
        #expect(try opened(device.touched(in: fixture)) == ["touch", "one"])
        #expect(try opened(fixture.keys(passcode: "secret")) == ["one", "presence"])
        let both = try fixture.keys(passcode: "secret")
        try fixture.store.satisfy(both, with: device.secret, of: device.identifier)
        #expect(try opened(both) == ["touch", "both", "one", "presence"])
        // After the lock nothing is left, and the enrollment is in the keybag.
        fixture.store.lock(immediately: true)
        #expect(both.isEmpty)
        try fixture.reopen()
        let stored = try fixture.store.securityKeys.all()
        #expect(stored == [EnrolledSecurityKey(enrollment: device.enrollment, satisfiesUserPresence: false)])
        #expect(try fixture.text("touch", device.touched(in: fixture)) == "data of touch")
    }

    @Test("A key that satisfies userPresence opens also the items that were stored before it was enrolled")
    func secondDoor() throws {
        let fixture = try ConstraintFixture()
        for (number, protection) in ProtectionClass.allCases.enumerated() {
            try fixture.add("presence \(number)", .userPresence, protection)
        }
        try fixture.add("passcode", .devicePasscode)
        let revision = try fixture.row("passcode").row.clear.revision
        let device = try Device(2)
        try device.enroll(in: fixture, satisfiesUserPresence: true)
        let keys = try device.touched(in: fixture)
        for number in ProtectionClass.allCases.indices {
            #expect(try fixture.text("presence \(number)", keys) == "data of presence \(number)")
        }
        #expect(try fixture.text("passcode", keys) == nil)
        #expect(try fixture.row("passcode").row.clear.revision == revision, "a row that does not change is not written")
        #expect(try !fixture.store.refresh().isResealing)
        #expect(try fixture.store.inspector.inspect().damaged.isEmpty)
    }

    @Test("A second key opens older items of the first if the passcode opens them, or if the first was touched")
    func secondKey() throws {
        let fixture = try ConstraintFixture()
        let (first, second, third) = (try Device(1), try Device(2), try Device(3))
        try first.enroll(in: fixture)
        try fixture.add("touch", .latchkeySecurityKey)
        try fixture.add("one", [.latchkeySecurityKey, .devicePasscode, .or])
        try second.enroll(in: fixture)
        #expect(try fixture.text("touch", second.touched(in: fixture)) == nil)
        #expect(try fixture.text("one", second.touched(in: fixture)) == "data of one")
        try third.enroll(in: fixture, evaluation: first.touched(in: fixture))
        for device in [first, third] {
            #expect(try fixture.text("touch", device.touched(in: fixture)) == "data of touch")
        }
        try fixture.store.passcode.change(
            from: ConstraintFixture.passcode("secret"), to: ConstraintFixture.passcode("rotated"), rotates: true,
            cost: ConstraintFixture.cost)
        #expect(try fixture.text("touch", third.touched(in: fixture)) == "data of touch")
        #expect(try fixture.text("one", second.touched(in: fixture)) == "data of one")
    }

    @Test("A key that items require is not removed without them; removed, it opens nothing")
    func removal() throws {
        let fixture = try ConstraintFixture()
        let (first, second) = (try Device(1), try Device(2))
        try first.enroll(in: fixture)
        try fixture.add("only", .latchkeySecurityKey)
        try fixture.add("all", [.latchkeySecurityKey, .devicePasscode, .and])
        try fixture.add("one", [.latchkeySecurityKey, .devicePasscode, .or])
        // The passcode opens no value of this item, so that its share of the key cannot be replaced.
        try fixture.add("finger", [.latchkeySecurityKey, .biometryCurrentSet, .or])
        try second.enroll(in: fixture, satisfiesUserPresence: true)
        try fixture.add("either", .latchkeySecurityKey)
        #expect(try fixture.store.securityKeys.itemsRequiring(first.identifier) == 2)
        #expect(try fixture.store.securityKeys.itemsRequiring(second.identifier) == 0)
        let passcode = try ConstraintFixture.passcode("secret")
        #expect {
            try fixture.store.securityKeys.remove(first.identifier, passcode: passcode)
        } throws: { error in
            if case StoreError.itemsRequireSecurityKey(count: 2) = error { true } else { false }
        }
        #expect {
            try fixture.store.securityKeys.remove(first.identifier, passcode: nil)
        } throws: {
            Self.isRefused($0) { if case .passcodeNeeded = $0 { true } else { false } }
        }
        #expect(try fixture.store.securityKeys.all().count == 2)
        let held = try first.touched(in: fixture)
        let copy = try fixture.row("one").row
        #expect(
            try fixture.store.securityKeys.remove(first.identifier, passcode: passcode, deletesItems: true) == 2)
        #expect(held.isEmpty, "an evaluation keeps the key of a removed pair")
        #expect(try fixture.store.securityKeys.all().map(\.identifier) == [second.identifier])
        #expect(throws: StoreError.self) { _ = try first.touched(in: fixture) }
        #expect(throws: StoreError.self) { _ = try fixture.store.securityKeys.itemsRequiring(first.identifier) }
        #expect(try fixture.find("only").records.isEmpty && fixture.find("all").records.isEmpty)
        #expect(try fixture.text("either", second.touched(in: fixture)) == "data of either")
        // The passcode has removed the shares of the key.
        func recipients(_ row: ItemRow) throws -> Set<[UInt8]> {
            let record = try ConstraintRecord(decoding: try #require(row.constraint))
            return Set(record.shares.joined().map(\.recipient.credential))
        }
        #expect(try recipients(copy).contains(first.identifier.bytes))
        for account in ["one", "either"] {
            #expect(try !recipients(fixture.row(account).row).contains(first.identifier.bytes))
        }
        // Enrolled again, it is another pair: the remains of the first pair open nothing and damage nothing.
        try first.enroll(in: fixture)
        #expect(try fixture.text("either", first.touched(in: fixture)) == nil)
        for account in ["either", "finger"] {
            let found = try fixture.find(account, first.touched(in: fixture))
            #expect(found.damaged.isEmpty && found.records.map(\.secrets) == [nil], "\(account)")
        }
        #expect(try fixture.text("finger", fixture.keys(set: ConstraintFixture.set)) == "data of finger")
    }

    @Test("Items that a security key opens stay when the passcode is removed, and wiping deletes them")
    func withoutPasscode() throws {
        let fixture = try ConstraintFixture()
        let device = try Device(1)
        try device.enroll(in: fixture, satisfiesUserPresence: true)
        try fixture.add("touch", .latchkeySecurityKey)
        try fixture.add("presence", .userPresence, .always)
        try fixture.add("all", [.latchkeySecurityKey, .devicePasscode, .and])
        #expect(try fixture.store.passcode.itemsRequiringIt == 1)
        #expect(try fixture.store.passcode.remove(ConstraintFixture.passcode("secret")) == 1)
        for account in ["touch", "presence"] {
            #expect(try fixture.text(account, device.touched(in: fixture)) == "data of \(account)")
        }
        try fixture.store.passcode.set(ConstraintFixture.passcode("second"), cost: ConstraintFixture.cost)
        #expect(try fixture.text("touch", device.touched(in: fixture)) == "data of touch")
        // No passcode opened the share of this row, so none gets one.
        #expect(try fixture.text("presence", fixture.keys(passcode: "second")) == nil)
        #expect(try fixture.text("presence", device.touched(in: fixture)) == "data of presence")
        #expect(try fixture.store.inspector.inspect().damaged.isEmpty)
        try fixture.store.administration.changeSettings(
            to: KeybagSettings(wipesAfterTen: true), ConstraintFixture.passcode("second"))
        try fixture.enterWrongPasscodes(10)
        #expect(try fixture.store.securityKeys.all().isEmpty)
        #expect(try fixture.find("presence").records.isEmpty)
    }

    @Test("Enrolling needs the right passcode, a new credential, a secret of 32 bytes and a free place of 8")
    func refused() throws {
        let fixture = try ConstraintFixture()
        let device = try Device(1)
        func enroll(_ secret: SharedSecret, _ passcode: String) throws {
            try fixture.store.securityKeys.enroll(
                device.enrollment, secret: secret, satisfiesUserPresence: false,
                passcode: ConstraintFixture.passcode(passcode))
        }
        #expect {
            try enroll(device.secret, "wrong one")
        } throws: {
            Self.isRefused($0) { if case .wrongPasscode = $0 { true } else { false } }
        }
        #expect(try fixture.store.passcodeAttempts().count == 1)
        #expect {
            try enroll(SharedSecret(copying: [1, 2, 3]), "secret")
        } throws: {
            Self.isRefused($0) { if case .unusableSecurityKey = $0 { true } else { false } }
        }
        for number in 1...8 { try Device(UInt8(number)).enroll(in: fixture) }
        #expect {
            try Device(9).enroll(in: fixture)
        } throws: {
            Self.isRefused($0) { if case .tooManySecurityKeys(max: 8) = $0 { true } else { false } }
        }
        #expect {
            try device.enroll(in: fixture)
        } throws: {
            Self.isRefused($0) { if case .securityKeyExists = $0 { true } else { false } }
        }
        let plain = try ConstraintFixture(hasPasscode: false)
        #expect {
            try device.enroll(in: plain)
        } throws: {
            Self.isRefused($0) { if case .noPasscode = $0 { true } else { false } }
        }
    }

    @Test("The secret of another key, another length or another device key satisfies nothing")
    func wrongSecrets() throws {
        let fixture = try ConstraintFixture()
        let (device, other) = (try Device(1), try Device(2))
        try device.enroll(in: fixture)
        for secret in [
            other.secret, SharedSecret(copying: [UInt8](repeating: 1, count: 31)), SharedSecret(copying: []),
        ] {
            let keys = fixture.store.constraintKeys()
            #expect {
                try fixture.store.satisfy(keys, with: secret, of: device.identifier)
            } throws: {
                Self.isRefused($0) { if case .wrongSecurityKey = $0 { true } else { false } }
            }
            #expect(keys.isEmpty)
        }
        let keybag = try fixture.store.refresh()
        let pair = try #require(keybag.record.pairs.last)
        #expect(throws: KeybagError.self) {
            _ = try pair.privateKey(
                under: KeyEncryptionKey(device: .ephemeral(), securityKey: device.secret), of: keybag.keychain)
        }
    }

    @Test("An enrollment that was interrupted between two batches is completed by the next unlock")
    func interrupted() throws {
        let fixture = try ConstraintFixture()
        try fixture.addMany(Snapshot.count, .userPresence)
        let device = try Device(2)
        let snapshot = try Snapshot(of: fixture)
        try fixture.store.securityKeys.enroll(
            device.enrollment, secret: device.secret, satisfiesUserPresence: true,
            passcode: ConstraintFixture.passcode("secret")
        ) { done, total in snapshot.takeIfBetween(done, total) }
        try snapshot.requireInterrupted()
        let store = try snapshot.open()
        try store.unlock(ConstraintFixture.passcode("secret"), floor: ConstraintFixture.cost)
        let keys = store.constraintKeys()
        try store.satisfy(keys, with: device.secret, of: device.identifier)
        try snapshot.expectComplete(store, keys)
        store.close()
    }
}

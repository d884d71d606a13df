// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Keybag
import KeychainModel
@testable import KeychainStore
import KeychainTesting
import LinuxSystem
import SecretMemory
import Testing

/// A keychain with constrained items, written as version 3 of the database and of the keybag. It
/// must stay readable; a vector is never recorded again.
@Suite("Frozen vectors with constraints")
struct FrozenConstraintTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "Vectors/keychain-v3")
    private static let passcode = "caf\u{E9} au lait, ﬁve cups"
    private static let password = "the application's ﬁrst password"
    private static let set = EnrolledSet(digest: Array(0..<32))

    private static let flags: [String: AccessControlFlags?] = [
        "plain": .none,
        "presence": .userPresence,
        "passcode": .devicePasscode,
        "biometry": .biometryAny,
        "current set": .biometryCurrentSet,
        "password": .applicationPassword,
        "one": [.devicePasscode, .biometryCurrentSet, .or],
        "all": [.devicePasscode, .biometryCurrentSet, .and, .applicationPassword],
        "key": [.biometryAny, .devicePasscode, .or, .privateKeyUsage],
        "security key": .latchkeySecurityKey,
    ]
    private static let secret = SharedSecret(copying: Array(100..<132))

    private static func enrollment() throws -> SecurityKeyEnrollment {
        try SecurityKeyEnrollment(
            credential: Array(0..<200), alwaysVerifies: true, name: "grüner Schlüssel", created: 800_000_000)
    }

    @Test("The version 3 keychain opens: its plain item without the person, the others with their terms")
    func version3() throws {
        let temporary = try copied()
        let key = try #require(try DeviceKey.load(from: try PrivateDirectory(existing: temporary.path)))
        let store = try StoreFixture.open("\(temporary.path)/keychain.db", key)
        store.keepBiometryKey()
        // Decomposed and compatible characters, as another keyboard may enter them.
        let passcode = try ConstraintFixture.passcode("cafe\u{301} au lait, five cups")
        try store.unlock(passcode, floor: PasscodeCost(exponent: 10))
        func texts(_ keys: ConstraintKeys?) throws -> [String: String?] {
            let found = try store.search(Sample.search(), limit: nil, withSecrets: true, constraints: keys)
            #expect(found.damaged.isEmpty && found.lost.isEmpty && found.records.count == Self.flags.count)
            return Dictionary(
                uniqueKeysWithValues: found.records.map { ($0[.account]?.text ?? "", $0.text) })
        }
        func expected(_ opened: Set<String>) -> [String: String?] {
            Dictionary(
                uniqueKeysWithValues: Self.flags.keys.map { ($0, opened.contains($0) ? "data of \($0)" : nil) })
        }
        #expect(try texts(nil) == expected(["plain"]))
        let keys = store.constraintKeys()
        try store.satisfy(keys, with: passcode)
        #expect(try texts(keys) == expected(["plain", "presence", "passcode", "one", "key"]))
        try store.satisfy(keys, with: BiometricMatch(recognizedAgainst: try #require(Self.set)))
        keys.setApplicationPassword(
            try ApplicationPassword(SharedSecret(copying: "the application's first password".utf8)))
        let enrollment = try Self.enrollment()
        #expect(
            try store.securityKeys.all() == [EnrolledSecurityKey(enrollment: enrollment, satisfiesUserPresence: true)])
        try store.satisfy(keys, with: Self.secret, of: enrollment.identifier)
        #expect(try texts(keys) == expected(Set(Self.flags.keys)))
        let touched = store.constraintKeys()
        try store.satisfy(touched, with: Self.secret, of: enrollment.identifier)
        #expect(try texts(touched) == expected(["plain", "presence", "security key"]))
        store.close()
        withExtendedLifetime(temporary) {}
    }

    @Test(
        "Recording a vector",
        .enabled(if: ProcessInfo.processInfo.environment["LATCHKEY_RECORD_VECTOR"] != nil, "only to record a new one"))
    func record() throws {
        #expect(
            !FileManager.default.fileExists(atPath: Self.folder.appending(path: "keychain.db").path),
            "a vector is frozen")
        let temporary = try TemporaryDirectory()
        let key = try DeviceKey.loadOrCreate(in: try PrivateDirectory(existing: temporary.path))
        let store = try StoreFixture.open("\(temporary.path)/keychain.db", key)
        try store.passcode.set(ConstraintFixture.passcode(Self.passcode), cost: PasscodeCost(exponent: 10))
        try store.securityKeys.enroll(
            Self.enrollment(), secret: Self.secret, satisfiesUserPresence: true,
            passcode: ConstraintFixture.passcode(Self.passcode))
        let password = try ApplicationPassword(
            SharedSecret(copying: Self.password.utf8), cost: PasscodeCost(exponent: 4))
        let binding = ConstraintBinding(enrolledSet: Self.set, applicationPassword: password)
        for (account, flags) in Self.flags.sorted(by: { $0.key < $1.key }) {
            _ = try store.add(ConstraintFixture.item(account, flags), binding: binding)
        }
        store.close()
        try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
        for name in ["keychain.db", "device.key"] {
            try Data(contentsOf: URL(filePath: "\(temporary.path)/\(name)")).write(
                to: Self.folder.appending(path: name))
        }
        Issue.record("the vector was written; run the tests without LATCHKEY_RECORD_VECTOR")
    }

    private func copied() throws -> TemporaryDirectory {
        let temporary = try TemporaryDirectory()
        for name in ["keychain.db", "device.key"] {
            let content = try Data(contentsOf: Self.folder.appending(path: name))
            _ = FileManager.default.createFile(
                atPath: "\(temporary.path)/\(name)", contents: content, attributes: [.posixPermissions: 0o600])
        }
        return temporary
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
@testable import LocalAuthentication
import Security
import Testing

@Suite("LARightStore")
struct RightStoreTests {
    private let store = LARightStore.shared
    private let message = Data("message".utf8)

    @Test("A saved right is found again with its requirement, tag, key and secret")
    func saving() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            let right = LARight(requirement: .biometryCurrentSet)
            right.tag = -5
            let saved = try await store.saveRight(right, identifier: "vault", secret: Data("s3cret".utf8))
            #expect(saved.state == .unknown && saved.tag == -5 && keychain.prompts.isEmpty)
            let found = try await store.right(forIdentifier: "vault")
            #expect(found.tag == -5 && found.record == saved.record)
            #expect(try await found.key.publicKey.bytes == saved.key.publicKey.bytes)
            try await found.authorize(localizedReason: "Open the vault")
            #expect(try await found.secret.rawData == Data("s3cret".utf8))
            #expect(keychain.prompts.map(\.target) == [.item(found.record.key)])
        }
    }

    @Test("The key and the secret have the requirement as their access control, and the class that needs a passcode")
    func items() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            let saved = try await store.saveRight(LARight(), identifier: "vault", secret: Data("s3cret".utf8))
            let items = keychain.snapshot.items
            #expect(items.count == 3)
            let key = try #require(items[saved.record.key])
            #expect(key.accessControlFlags == [.userPresence, .privateKeyUsage])
            #expect(key.attributes[.isExtractable] == .number(0))
            let secret = try #require(saved.record.secret.flatMap { items[$0] })
            #expect(secret.accessControlFlags == .userPresence)
            let record = try #require(items[saved.reference])
            #expect(record.accessControlFlags == nil)
            #expect(items.values.allSatisfy { $0.protection == .whenPasscodeSetThisDeviceOnly })
        }
    }

    @Test("Key and secret are refused until the right is authorized, and after it was deauthorized")
    func enforcement() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            let saved = try await store.saveRight(LARight(), identifier: "vault", secret: Data("s3cret".utf8))
            func refusals() async {
                let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
                let signing = await #expect(throws: LAError.self) {
                    try await saved.key.sign(message, algorithm: algorithm)
                }
                let reading = await #expect(throws: LAError.self) { try await saved.secret.rawData }
                #expect(signing?.code == .notInteractive && reading?.code == .notInteractive)
            }
            await refusals()
            // Before the first authorization there is no context at all.
            #expect(keychain.snapshot.lastContext == 0)
            try await saved.authorize(localizedReason: "a test")
            let prompts = keychain.prompts.count
            #expect(try await saved.secret.rawData == Data("s3cret".utf8))
            await saved.deauthorize()
            await refusals()
            // A flag in the program opens nothing: the keychain has lost the authentication.
            try await saved.authorize(localizedReason: "a test")
            keychain.change { state in for id in state.contexts.keys { state.contexts[id]?.isProven = false } }
            #expect(saved.state == .authorized)
            await refusals()
            #expect(keychain.prompts.count == prompts + 1)
        }
    }

    @Test("The key signs, decrypts and agrees while the right is authorized")
    func keyOperations() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            let saved = try await store.saveRight(LARight(), identifier: "key")
            let (key, publicKey) = (saved.key, saved.key.publicKey)
            try await saved.authorize(localizedReason: "a test")
            let signing = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
            #expect(key.canSign(using: signing) && publicKey.canVerify(using: signing))
            #expect(!key.canSign(using: .rsaSignatureMessagePSSSHA256))
            let signature = try await key.sign(message, algorithm: signing)
            try await publicKey.verify(message, signature: signature, algorithm: signing)
            let wrong = await #expect(throws: NSError.self) {
                try await publicKey.verify(Data("other".utf8), signature: signature, algorithm: signing)
            }
            #expect(wrong?.code == Int(errSecVerifyFailed))

            let encryption = SecKeyAlgorithm.eciesEncryptionStandardVariableIVX963SHA256AESGCM
            #expect(key.canDecrypt(using: encryption) && publicKey.canEncrypt(using: encryption))
            let ciphertext = try await publicKey.encrypt(message, algorithm: encryption)
            #expect(try await key.decrypt(ciphertext, algorithm: encryption) == message)

            let exchange = SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA256
            #expect(key.canExchangeKeys(using: exchange))
            let other = try await store.saveRight(LARight(), identifier: "other")
            try await other.authorize(localizedReason: "a test")
            let size: [AnyHashable: Any] = [SecKeyKeyExchangeParameter.requestedSize.rawValue as String: 32]
            let mine = try await key.exchangeKeys(
                publicKey: try await other.key.publicKey.bytes, algorithm: exchange, parameters: size)
            let theirs = try await other.key.exchangeKeys(
                publicKey: try await publicKey.bytes, algorithm: exchange, parameters: size)
            #expect(mine.count == 32 && mine == theirs)
            await #expect(throws: NSError.self) {
                try await key.exchangeKeys(publicKey: Data([4, 1]), algorithm: exchange, parameters: size)
            }
        }
    }

    @Test("Completion handlers get the same results as asynchronous calls")
    func completions() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            let saved = await withCheckedContinuation { continuation in
                store.saveRight(LARight(), identifier: "vault", secret: Data("s3cret".utf8)) { right, error in
                    #expect(error == nil)
                    continuation.resume(returning: right)
                }
            }
            let right = try #require(saved)
            let early = await withCheckedContinuation { continuation in
                right.secret.loadData { data, error in continuation.resume(returning: data == nil ? error : nil) }
            }
            #expect((early as? LAError)?.code == .notInteractive)
            let bytes = await withCheckedContinuation { continuation in
                right.key.publicKey.exportBytes { data, _ in continuation.resume(returning: data) }
            }
            #expect(bytes?.count == 65)
            let removal = await withCheckedContinuation { continuation in
                store.removeAllRights { continuation.resume(returning: $0) }
            }
            #expect(removal == nil && keychain.snapshot.items.isEmpty)
        }
    }

    @Test("A right without a secret has none")
    func withoutSecret() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            let saved = try await store.saveRight(LARight(), identifier: "key")
            try await saved.authorize(localizedReason: "a test")
            let error = await #expect(throws: NSError.self) { try await saved.secret.rawData }
            #expect(error?.domain == NSOSStatusErrorDomain && error?.code == Int(errSecItemNotFound))
        }
    }

    @Test("A second right with the same identifier is refused, and leaves no items behind")
    func duplicate() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            _ = try await store.saveRight(LARight(), identifier: "vault")
            let error = await #expect(throws: NSError.self) {
                try await store.saveRight(LARight(), identifier: "vault")
            }
            #expect(error?.code == Int(errSecDuplicateItem))
            #expect(keychain.snapshot.items.count == 2)
        }
    }

    @Test(
        "A right that cannot be stored completely is not stored at all",
        arguments: ["latchkey.right", "latchkey.right.secret"])
    func interruption(_ service: String) async {
        let keychain = FakeKeychain()
        keychain.change { $0.failingLabel = service }
        await keychain.run {
            await #expect(throws: NSError.self) {
                try await store.saveRight(LARight(), identifier: "vault", secret: Data("s3cret".utf8))
            }
            #expect(keychain.snapshot.items.isEmpty)
        }
    }

    @Test("Without a passcode no right is saved")
    func withoutPasscode() async {
        let keychain = FakeKeychain()
        keychain.change { $0.status.hasPasscode = false }
        await keychain.run {
            let error = await #expect(throws: LAError.self) {
                try await store.saveRight(LARight(), identifier: "vault")
            }
            #expect(error?.code == .passcodeNotSet)
            #expect(keychain.snapshot.items.isEmpty)
        }
    }

    @Test("A removed right is gone with its key and its secret, and no longer authorized")
    func removal() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            let saved = try await store.saveRight(LARight(), identifier: "one", secret: Data("s3cret".utf8))
            _ = try await store.saveRight(LARight(), identifier: "two", secret: Data("s3cret".utf8))
            try await saved.authorize(localizedReason: "a test")
            try await store.removeRight(saved)
            #expect(saved.state == .notAuthorized)
            try await store.removeRight(forIdentifier: "two")
            #expect(keychain.snapshot.items.isEmpty)
            for identifier in ["one", "two"] {
                let error = await #expect(throws: NSError.self) {
                    try await store.removeRight(forIdentifier: identifier)
                }
                #expect(error?.code == Int(errSecItemNotFound))
            }
        }
    }

    @Test("removeAllRights removes the program's rights, damaged ones too, and no other items")
    func removingAll() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            try await store.removeAllRights()
            _ = try await store.saveRight(LARight(), identifier: "one")
            let damaged = try await store.saveRight(LARight(), identifier: "two")
            keychain.change { $0.items[damaged.reference]?.secrets?.data = nil }
            let error = await #expect(throws: NSError.self) { try await store.right(forIdentifier: "two") }
            #expect(error?.code == Int(errSecDecode))
            try await store.removeAllRights()
            // The key of the damaged right cannot be found any more.
            #expect(keychain.snapshot.items.keys.map(\.itemClass) == [.key])
        }
    }

    @Test("Programs without an identity share identifiers, but removeAllRights removes only a program's own rights")
    func sharedGroup() async throws {
        let keychain = FakeKeychain()
        try await keychain.run(as: "/usr/bin/one", groups: nil) {
            _ = try await store.saveRight(LARight(), identifier: "one")
        }
        try await keychain.run(as: "/usr/bin/two", groups: nil) {
            _ = try await store.saveRight(LARight(), identifier: "two")
            try await store.removeAllRights()
            _ = try await store.right(forIdentifier: "one")
            await #expect(throws: NSError.self) { try await store.right(forIdentifier: "two") }
        }
        // In a group of their own, programs of an app remove each other's rights.
        try await keychain.run(as: "/usr/bin/three") { _ = try await store.saveRight(LARight(), identifier: "three") }
        try await keychain.run(as: "/usr/bin/four") {
            try await store.removeAllRights()
            await #expect(throws: NSError.self) { try await store.right(forIdentifier: "three") }
        }
    }
}

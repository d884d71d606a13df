// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import HardwareSecurity
import KeychainModel
import KeychainTesting
import Latchkey
import LatchkeyClient
import LatchkeyLocalAuthentication
import LatchkeyOperations
import LatchkeySecurity
import LatchkeyService
import TPMTesting
import Testing
import TrustedPlatformModule

/// Keys of a Secure Enclave that a program keeps by their representation.
@Suite("Unnamed keys in a Secure Enclave", .enabled(if: SoftwareTPM.isInstalled))
struct UnnamedEnclaveKeyTests {
    private func keyCount() throws -> Int {
        try KeychainClient.session().status().counts.filter { $0.itemClass == .key }.reduce(0) { $0 + $1.count }
    }

    @Test("A signing key has CryptoKit's form, and is found by its representation", arguments: Backend.allCases)
    func sign(_ backend: Backend) throws {
        try withEnclave(backend) { keychain in
            #expect(SecureEnclave.isAvailable)
            let key = try SecureEnclave.P256.Signing.PrivateKey()
            let message = Data("message".utf8)
            let signature = try key.signature(for: message)
            #expect(key.publicKey.isValidSignature(signature, for: message))
            let digest = SHA512.hash(data: message)
            #expect(key.publicKey.isValidSignature(try key.signature(for: digest), for: digest))
            let representation = key.dataRepresentation
            let again = try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: representation)
            #expect(again.publicKey.x963Representation == key.publicKey.x963Representation)
            #expect(key.publicKey.isValidSignature(try again.signature(for: message), for: message))
            // Another program has another access group.
            keychain.run(groups: ["G3"]) {
                let error = #expect(throws: KeychainError.self) {
                    try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: representation)
                }
                #expect(error?.status == .itemNotFound)
            }
        }
    }

    @Test(
        "CryptoKit's SecAccessControl and LAContext are accepted, and other objects refused",
        arguments: Backend.allCases)
    func accessControl(_ backend: Backend) throws {
        try withEnclave(backend) { _ in
            var error: Unmanaged<CFError>?
            let control = try #require(
                SecAccessControlCreateWithFlags(
                    nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [.privateKeyUsage, .applicationPassword], &error)
            )
            let context = LAContext()
            #expect(context.setCredential(Data("the password".utf8), type: .applicationPassword))
            let key = try SecureEnclave.P256.Signing.PrivateKey(accessControl: control, authenticationContext: context)
            let message = Data("message".utf8)
            #expect(key.publicKey.isValidSignature(try key.signature(for: message), for: message))
            // The key is bound to the password, and another context does not have the password.
            let bytes = key.dataRepresentation
            let other = LAContext()
            #expect(other.setCredential(Data("another".utf8), type: .applicationPassword))
            for wrong in [nil, other] {
                #expect(throws: KeychainError.self) {
                    try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: bytes, authenticationContext: wrong)
                        .signature(for: message)
                }
            }
            let again = try SecureEnclave.P256.Signing.PrivateKey(
                dataRepresentation: bytes, authenticationContext: context)
            #expect(key.publicKey.isValidSignature(try again.signature(for: message), for: message))
            let agreement = try SecureEnclave.P256.KeyAgreement.PrivateKey(
                accessControl: control, authenticationContext: context)
            _ = try agreement.sharedSecretFromKeyAgreement(with: P256.KeyAgreement.PrivateKey().publicKey)

            let foreign = ForeignObject()
            for body in [
                { _ = try SecureEnclave.P256.Signing.PrivateKey(accessControl: foreign) },
                { _ = try SecureEnclave.P256.KeyAgreement.PrivateKey(authenticationContext: foreign) },
                {
                    _ = try SecureEnclave.P256.Signing.PrivateKey(
                        dataRepresentation: bytes, authenticationContext: foreign)
                },
            ] {
                #expect(#expect(throws: KeychainError.self) { try body() }?.status == .param)
            }
        }
    }

    /// An object of neither type.
    private final class ForeignObject: AccessControlObject, AuthenticationContextObject {}

    @Test("An agreement has the functions of swift-crypto's secret, with the same results")
    func agree() throws {
        try withEnclave(.ephemeral) { _ in
            let key = try SecureEnclave.P256.KeyAgreement.PrivateKey()
            let other = P256.KeyAgreement.PrivateKey()
            let mine = try key.sharedSecretFromKeyAgreement(with: other.publicKey)
            let theirs = try other.sharedSecretFromKeyAgreement(with: key.publicKey)
            let (salt, info) = (Data("salt".utf8), Data("info".utf8))
            for count in [16, 32, 33, 100] {
                #expect(
                    mine.hkdfDerivedSymmetricKey(
                        using: SHA256.self, salt: salt, sharedInfo: info, outputByteCount: count)
                        == theirs.hkdfDerivedSymmetricKey(
                            using: SHA256.self, salt: salt, sharedInfo: info, outputByteCount: count))
                #expect(
                    mine.x963DerivedSymmetricKey(using: SHA384.self, sharedInfo: info, outputByteCount: count)
                        == theirs.x963DerivedSymmetricKey(using: SHA384.self, sharedInfo: info, outputByteCount: count))
            }
            let again = try SecureEnclave.P256.KeyAgreement.PrivateKey(dataRepresentation: key.dataRepresentation)
            #expect(
                try again.sharedSecretFromKeyAgreement(with: other.publicKey).withUnsafeBytes { Array($0) }
                    == theirs.withUnsafeBytes { Array($0) })
        }
    }

    @Test("A key without a kept representation ends with its last reference")
    func end() throws {
        try withEnclave(.onDisk) { _ in
            var key: SecureEnclave.P256.Signing.PrivateKey? = try SecureEnclave.P256.Signing.PrivateKey()
            _ = try key?.signature(for: Data([1]))
            #expect(try keyCount() == 1)
            key = nil
            #expect(try keyCount() == 0)
            let kept = try SecureEnclave.P256.Signing.PrivateKey().dataRepresentation
            #expect(try keyCount() == 1)
            _ = try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: kept).signature(for: Data([1]))
            #expect(try keyCount() == 1)
        }
    }

    @Test("No search finds such a key, and no query deletes or changes it", arguments: Backend.allCases)
    func hidden(_ backend: Backend) throws {
        try withEnclave(backend) { _ in
            let key = try SecureEnclave.P256.Signing.PrivateKey()
            let all: [CFString: Any] = [kSecClass: kSecClassKey, kSecMatchLimit: kSecMatchLimitAll]
            var found: CFTypeRef?
            for query in [
                all, all.merging([kSecAttrTokenID: kSecAttrTokenIDSecureEnclave]) { $1 },
                all.merging([kSecReturnAttributes: true]) { $1 }, all.merging([kSecReturnRef: true]) { $1 },
            ] {
                #expect(SecItemCopyMatching(query as CFDictionary, &found) == errSecItemNotFound)
            }
            let plain: [CFString: Any] = [kSecClass: kSecClassKey]
            #expect(SecItemUpdate(plain as CFDictionary, [kSecAttrLabel: "x"] as CFDictionary) == errSecItemNotFound)
            #expect(SecItemDelete(plain as CFDictionary) == errSecItemNotFound)
            #expect(try key.publicKey.isValidSignature(key.signature(for: Data([1])), for: Data([1])))
        }
    }

    @Test("A representation with any byte changed is refused, or names another key that does not exist")
    func damaged() throws {
        try withEnclave(.ephemeral) { _ in
            let bytes = try SecureEnclave.P256.Signing.PrivateKey().dataRepresentation
            for index in bytes.indices {
                var changed = bytes
                changed[index] ^= 0x10
                #expect(throws: KeychainError.self, "byte \(index)") {
                    try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: changed)
                }
                #expect(throws: KeychainError.self) {
                    try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: bytes.prefix(index))
                }
            }
            #expect(throws: KeychainError.self) {
                try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: bytes + [0])
            }
        }
    }

    @Test(
        "T254 to T257: a SecKey that is not permanent is made again from its kSecAttrTokenOID, and is in no keychain",
        arguments: [false, true])
    func tokenObject(_ hasAccessControl: Bool) throws {
        try withEnclave(.onDisk) { _ in
            var error: Unmanaged<CFError>?
            var privateKey: [CFString: Any] = [kSecAttrIsPermanent: false]
            if hasAccessControl {
                privateKey[kSecAttrAccessControl] = try #require(
                    SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .privateKeyUsage, &error))
            }
            let parameters =
                [
                    kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
                    kSecPrivateKeyAttrs: privateKey,
                ] as CFDictionary
            let key = try #require(SecKeyCreateRandomKey(parameters, &error))
            #expect(SecKeyCopyExternalRepresentation(key, &error) == nil)
            let attributes = try #require(SecKeyCopyAttributes(key) as? [String: Any])
            #expect(attributes[kSecAttrTokenID as String] as? String == kSecAttrTokenIDSecureEnclave as String)
            #expect(attributes[kSecValueData as String] == nil)
            let object = try #require(attributes[kSecAttrTokenOID as String] as? Data)
            let token: [CFString: Any] = [kSecAttrTokenID: kSecAttrTokenIDSecureEnclave]
            for (data, more) in [(object, token), (Data(), token.merging([kSecAttrTokenOID: object]) { $1 })] {
                let again = try #require(SecKeyCreateWithData(data as CFData, more as CFDictionary, &error))
                let message = Data("m".utf8) as CFData
                let signature = try #require(
                    SecKeyCreateSignature(again, .ecdsaSignatureMessageX962SHA256, message, nil))
                let publicKey = try #require(SecKeyCopyPublicKey(key))
                #expect(SecKeyVerifySignature(publicKey, .ecdsaSignatureMessageX962SHA256, message, signature, nil))
                let stored = [kSecClass: kSecClassKey, kSecValueRef: again] as CFDictionary
                #expect(SecItemCopyMatching(stored, nil) == errSecItemNotFound)
            }
            #expect(SecKeyCreateWithData(Data([1, 2]) as CFData, token as CFDictionary, &error) == nil)
            var found: CFTypeRef?
            #expect(SecItemCopyMatching([kSecClass: kSecClassKey] as CFDictionary, &found) == errSecItemNotFound)
        }
    }

    @Test("Without a TPM there is none")
    func none() throws {
        let keychain = try TestKeychain(.ephemeral)
        keychain.run(groups: ["G1"]) {
            #expect(!SecureEnclave.isAvailable)
            let error = #expect(throws: KeychainError.self) { try SecureEnclave.P256.Signing.PrivateKey() }
            #expect(error?.status == .unimplemented)
        }
    }
}

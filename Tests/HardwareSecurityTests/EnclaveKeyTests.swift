// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import HardwareSecurity
import KeyServices
import KeychainModel
import KeychainTesting
import Latchkey
import LatchkeyClient
import LatchkeyOperations
import LatchkeySecurity
import LatchkeyService
import SecretMemory
import TPMTesting
import Testing
import TrustedPlatformModule

/// Keys of a Secure Enclave through Apple's API (keychain-behaviour §6.6).
@Suite("SecKey in a Secure Enclave", .enabled(if: SoftwareTPM.isInstalled))
struct EnclaveKeyTests {
    private static func attributes(_ tag: String, _ more: [CFString: Any] = [:]) -> CFDictionary {
        [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
            kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true, kSecAttrApplicationTag: Data(tag.utf8)].merging(more) {
                $1
            }
                as [CFString: Any],
        ] as CFDictionary
    }

    private static func made(_ attributes: CFDictionary) throws -> SecKey {
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCreateRandomKey(attributes, &error) else {
            throw try #require(error).takeRetainedValue() as any Error
        }
        return key
    }

    private static func code(_ body: () throws -> Void) -> Int? {
        do {
            try body()
            return nil
        } catch {
            return (error as NSError).code
        }
    }

    @Test("Every ECDSA algorithm signs, and the public key verifies", arguments: Backend.everywhere)
    func sign(_ backend: Backend) throws {
        try withEnclave(backend) { _ in
            let key = try Self.made(Self.attributes("sign"))
            let publicKey = try #require(SecKeyCopyPublicKey(key))
            let message = Data("message".utf8) as CFData
            let messages: [SecKeyAlgorithm] = [
                .ecdsaSignatureMessageX962SHA1, .ecdsaSignatureMessageX962SHA224, .ecdsaSignatureMessageX962SHA256,
                .ecdsaSignatureMessageX962SHA384, .ecdsaSignatureMessageX962SHA512,
                .ecdsaSignatureMessageRFC4754SHA256, .ecdsaSignatureMessageRFC4754SHA512,
            ]
            for algorithm in messages {
                var error: Unmanaged<CFError>?
                let signature = try #require(SecKeyCreateSignature(key, algorithm, message, &error), "\(algorithm)")
                #expect(SecKeyVerifySignature(publicKey, algorithm, message, signature, nil), "\(algorithm)")
                #expect(SecKeyIsAlgorithmSupported(key, .sign, algorithm))
            }
            // Digests of every length: shorter ones are numbers, longer ones are cut.
            for count in [1, 20, 28, 31, 32, 33, 48, 64] {
                let digest = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 1) }) as CFData
                let signature = try #require(SecKeyCreateSignature(key, .ecdsaSignatureDigestX962, digest, nil))
                #expect(SecKeyVerifySignature(publicKey, .ecdsaSignatureDigestX962, digest, signature, nil), "\(count)")
            }
        }
    }

    @Test("T259: agreement and ECIES work with a key in memory", arguments: Backend.everywhere)
    func agree(_ backend: Backend) throws {
        try withEnclave(backend) { _ in
            let key = try Self.made(Self.attributes("agree"))
            let publicKey = try #require(SecKeyCopyPublicKey(key))
            let other = try Self.made(
                [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256] as CFDictionary)
            let otherPublic = try #require(SecKeyCopyPublicKey(other))
            let parameters = [SecKeyKeyExchangeParameter.requestedSize.rawValue: 32] as CFDictionary
            for algorithm in [
                SecKeyAlgorithm.ecdhKeyExchangeStandard, .ecdhKeyExchangeCofactor, .ecdhKeyExchangeCofactorX963SHA256,
            ] {
                let one = try #require(SecKeyCopyKeyExchangeResult(key, algorithm, otherPublic, parameters, nil))
                let two = try #require(SecKeyCopyKeyExchangeResult(other, algorithm, publicKey, parameters, nil))
                #expect(one as Data == two as Data)
            }
            let plaintext = Data("secret".utf8)
            for algorithm in [
                SecKeyAlgorithm.eciesEncryptionStandardX963SHA256AESGCM,
                .eciesEncryptionCofactorVariableIVX963SHA256AESGCM,
            ] {
                let sealed = try #require(SecKeyCreateEncryptedData(publicKey, algorithm, plaintext as CFData, nil))
                #expect(SecKeyCreateDecryptedData(key, algorithm, sealed, nil) as Data? == plaintext)
            }
            for algorithm in [SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA256, .rsaSignatureRaw] {
                #expect(!SecKeyIsAlgorithmSupported(key, .sign, algorithm))
            }
        }
    }

    @Test("The key is found again by its tag and by its token, and signs after a restart")
    func find() throws {
        try withEnclave(.onDisk) { keychain in
            let key = try Self.made(Self.attributes("again"))
            let publicKey = try #require(SecKeyCopyPublicKey(key))
            let again = try keychain.reopened()
            try again.run(groups: ["G1", "G2"]) {
                let query =
                    [
                        kSecClass: kSecClassKey, kSecAttrApplicationTag: Data("again".utf8),
                        kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecReturnRef: true,
                    ] as CFDictionary
                var found: CFTypeRef?
                #expect(SecItemCopyMatching(query, &found) == errSecSuccess)
                let stored = try #require(found as? SecKey)
                let message = Data("m".utf8) as CFData
                let signature = try #require(
                    SecKeyCreateSignature(stored, .ecdsaSignatureMessageX962SHA256, message, nil))
                #expect(SecKeyVerifySignature(publicKey, .ecdsaSignatureMessageX962SHA256, message, signature, nil))
            }
        }
    }

    @Test("T258: a key with a label signs when it is found, and is not found after its deletion")
    func delete() throws {
        try withEnclave(.onDisk) { _ in
            let attributes: [CFString: Any] = [
                kSecAttrLabel: "L", kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked,
            ]
            let publicKey = try #require(SecKeyCopyPublicKey(try Self.made(Self.attributes("delete", attributes))))
            let query: [CFString: Any] = [kSecClass: kSecClassKey, kSecAttrLabel: "L"]
            let reference = query.merging([kSecReturnRef: true]) { $1 } as CFDictionary
            var found: CFTypeRef?
            #expect(SecItemCopyMatching(reference, &found) == errSecSuccess)
            let stored = try #require(found as? SecKey)
            let message = Data("m".utf8) as CFData
            let signature = try #require(SecKeyCreateSignature(stored, .ecdsaSignatureMessageX962SHA256, message, nil))
            #expect(SecKeyVerifySignature(publicKey, .ecdsaSignatureMessageX962SHA256, message, signature, nil))
            #expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
            #expect(SecItemCopyMatching(reference, &found) == errSecItemNotFound)
        }
    }

    @Test("The attributes say that the key is in the Secure Enclave, and is never extractable")
    func describe() throws {
        try withEnclave(.ephemeral) { _ in
            _ = try Self.made(Self.attributes("describe"))
            var found: CFTypeRef?
            let query = [kSecClass: kSecClassKey, kSecReturnAttributes: true] as CFDictionary
            #expect(SecItemCopyMatching(query, &found) == errSecSuccess)
            let attributes = try #require(found as? [String: Any])
            #expect(attributes[kSecAttrTokenID as String] as? String == kSecAttrTokenIDSecureEnclave as String)
            #expect(attributes["sens"] as? Bool == true)
            #expect(attributes["extr"] as? Bool == false)
            #expect(attributes["next"] as? Bool == true)
            #expect(attributes[kSecValueData as String] == nil)
        }
    }

    @Test("T261: no call returns the private key", arguments: Backend.everywhere)
    func export(_ backend: Backend) throws {
        try withEnclave(backend) { keychain in
            let key = try Self.made(Self.attributes("export"))
            var error: Unmanaged<CFError>?
            #expect(SecKeyCopyExternalRepresentation(key, &error) == nil)
            #expect(error.map { CFErrorGetCode($0.takeRetainedValue()) } == Int(errSecUnimplemented))
            let query: [CFString: Any] = [kSecClass: kSecClassKey, kSecAttrApplicationTag: Data("export".utf8)]
            var found: CFTypeRef?
            let data = query.merging([kSecReturnData: true]) { $1 } as CFDictionary
            #expect(SecItemCopyMatching(data, &found) == errSecUnimplemented)
            #expect(found == nil)
            // Latchkey's own types reach swift-crypto's only through the same call.
            let own = try Keychain.default.key(P256SigningKey.self, tag: "export")
            let refused = #expect(throws: KeychainError.self) { try P256.Signing.PrivateKey(own) }
            #expect(refused?.status == .unimplemented)
            // An update makes it neither extractable nor a key of another kind.
            for change: [CFString: Any] in [
                [kSecAttrIsExtractable: true], [kSecAttrTokenID: ""], [kSecAttrTokenID: "other"],
                [kSecAttrIsSensitive: false], [kSecValueData: Data([1, 2, 3])], [kSecAttrKeyType: kSecAttrKeyTypeRSA],
                [kSecAttrKeyClass: kSecAttrKeyClassSymmetric], [kSecAttrSynchronizable: true],
            ] {
                #expect(
                    SecItemUpdate(query as CFDictionary, change as CFDictionary) != errSecSuccess, "\(change)")
            }
            #expect(SecItemCopyMatching(data, &found) == errSecUnimplemented)
            #expect(SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, Data([1]) as CFData, nil) != nil)
        }
    }

    @Test("No key is imported to the Secure Enclave")
    func importKey() throws {
        try withEnclave(.ephemeral) { _ in
            let other = try Self.made(
                [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256] as CFDictionary)
            let bytes = try #require(SecKeyCopyExternalRepresentation(other, nil)) as Data
            let addition: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom,
                kSecAttrKeyClass: kSecAttrKeyClassPrivate, kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
                kSecValueData: bytes,
            ]
            #expect(SecItemAdd(addition as CFDictionary, nil) == errSecUnimplemented)
            #expect(
                SecItemAdd(
                    [kSecValueRef: other, kSecAttrTokenID: kSecAttrTokenIDSecureEnclave] as CFDictionary, nil)
                    == errSecUnimplemented)
        }
    }

    @Test("T262: other keys than P-256, other tokens and unsuitable access controls are refused")
    func refused() throws {
        try withEnclave(.ephemeral) { _ in
            func status(_ change: [CFString: Any]) -> Int? {
                let base = Self.attributes("refused") as? [CFString: Any] ?? [:]
                return Self.code { _ = try Self.made(base.merging(change) { $1 } as CFDictionary) }
            }
            #expect(status([kSecAttrKeySizeInBits: 384]) == Int(errSecParam))
            #expect(status([kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: 2048]) == Int(errSecParam))
            #expect(status([kSecAttrTokenID: "com.example.token"]) == Int(errSecUnimplemented))
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [.userPresence], nil))
            #expect(
                Self.code { _ = try Self.made(Self.attributes("r", [kSecAttrAccessControl: control])) }
                    == Int(errSecParam))
            #expect(
                Self.code { _ = try Self.made(Self.attributes("r", [kSecAttrSynchronizable: true])) }
                    == Int(errSecParam))
            #expect(
                Self.code { _ = try Self.made(Self.attributes("r", [kSecAttrIsExtractable: true])) }
                    == Int(errSecParam))
            var found: CFTypeRef?
            #expect(SecItemCopyMatching([kSecClass: kSecClassKey] as CFDictionary, &found) == errSecItemNotFound)
        }
    }

    @Test("Without a TPM there is no Secure Enclave", arguments: Backend.everywhere)
    func none(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        keychain.run(groups: ["G1"]) {
            #expect(Self.code { _ = try Self.made(Self.attributes("none")) } == Int(errSecUnimplemented))
        }
    }

    @Test("A locked class cannot sign, and an unlocked one can")
    func lock() throws {
        try withEnclave(.onDisk) { keychain in
            let service = try KeychainClient.session()
            try service.setPasscode(SharedSecret(copying: "correct horse".utf8)) { _, _ in }
            let key = try Self.made(
                Self.attributes("lock", [kSecAttrAccessible: kSecAttrAccessibleWhenUnlockedThisDeviceOnly]))
            let message = Data("m".utf8) as CFData
            #expect(SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message, nil) != nil)
            try service.lock(immediately: true)
            var error: Unmanaged<CFError>?
            #expect(SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message, &error) == nil)
            #expect(error.map { CFErrorGetCode($0.takeRetainedValue()) } == Int(errSecInteractionNotAllowed))
            _ = try service.unlock(SharedSecret(copying: "correct horse".utf8)) { _, _ in }
            #expect(SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message, nil) != nil)
        }
    }

    @Test("No backup contains a key of a Secure Enclave")
    func backup() throws {
        try withEnclave(.onDisk) { _ in
            _ = try Self.made(Self.attributes("backup", [kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock]))
            let service = try KeychainClient.session()
            let passphrase = SharedSecret(copying: "a passphrase for it".utf8)
            for includesKeys in [false, true] {
                let report = try service.backup(
                    under: passphrase, passcode: nil, including: includesKeys ? .nonExtractableKeys : [],
                    to: { (_) throws(KeychainError) in }, progress: { _, _ in })
                #expect(report.staying == 1)
                #expect(report.portable == 0 && report.deviceBound == 0)
            }
        }
    }

    @Test("All files on another machine with another TPM: no key works")
    func thief() throws {
        let tpm = try SoftwareTPM()
        let module = TrustedPlatformModule(tpm.address)
        let keychain = try TestKeychain(.onDisk, hardware: SecureHardware(module))
        try keychain.run(groups: ["G1"]) { _ = try Self.made(Self.attributes("thief")) }
        keychain.service.close()
        module.close()
        let other = try SoftwareTPM()
        let otherModule = TrustedPlatformModule(other.address)
        let stolen = try TestKeychain(
            in: try #require(keychain.directory), clock: keychain.clock, hardware: SecureHardware(otherModule))
        try stolen.run(groups: ["G1"]) {
            var found: CFTypeRef?
            let query = [kSecClass: kSecClassKey, kSecReturnRef: true] as CFDictionary
            #expect(SecItemCopyMatching(query, &found) == errSecSuccess)
            let key = try #require(found as? SecKey)
            var error: Unmanaged<CFError>?
            #expect(SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, Data([1]) as CFData, &error) == nil)
            #expect(error.map { CFErrorGetCode($0.takeRetainedValue()) } == Int(errSecDecode))
        }
        otherModule.close()
    }
}

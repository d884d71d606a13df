// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeychainModel
import Latchkey
import LatchkeyService
import SecretMemory
import Synchronization
import Testing

/// Keys with types, in memory and in keychains.
@Suite("Typed keys")
struct TypedKeyTests {
    private let message = Data("a message".utf8)

    private func bytes(_ secret: SharedSecret) -> Data { secret.withUnsafeBytes { Data($0) } }

    @Test("RSA keys sign, verify, encrypt and decrypt, in memory and in a keychain")
    func rsa() throws {
        let keychain = try Keychain.ephemeral()
        let stored = try keychain.generate(RSAPrivateKey.self, bits: 2048, tag: "rsa")
        let inMemory = try RSAPrivateKey(bits: 2048)
        #expect(stored.isStored && !inMemory.isStored)
        for key in [stored, inMemory] {
            for scheme in [RSASignatureScheme.pkcs1(.sha256), .pss(.sha512)] {
                let signature = try key.signature(for: message, scheme)
                #expect(try key.publicKey.isValidSignature(signature, for: message, scheme))
                #expect(try !key.publicKey.isValidSignature(signature, for: Data("another".utf8), scheme))
            }
            for scheme in [RSAEncryptionScheme.oaep(.sha1), .hybrid(.sha256)] {
                #expect(bytes(try key.decrypt(key.publicKey.encrypt(message, scheme), scheme)) == message)
            }
            #expect(try RSAPublicKey(pkcs1: key.publicKey.pkcs1).pem() == key.publicKey.pem())
        }
    }

    @Test("Elliptic curve keys sign like swift-crypto's, and convert to its types")
    func curves() throws {
        let keychain = try Keychain.ephemeral()
        let stored = try keychain.generate(P256SigningKey.self, tag: "p256")
        let theirs = try P256.Signing.PrivateKey(stored)
        #expect(theirs.publicKey.x963Representation == (try stored.publicKey.x963))
        let signature = try stored.signature(for: message)
        #expect(
            theirs.publicKey.isValidSignature(
                try P256.Signing.ECDSASignature(derRepresentation: signature), for: message))
        #expect(try stored.publicKey.isValidSignature(theirs.signature(for: message).derRepresentation, for: message))
        #expect(
            try stored.publicKey.isValidRawSignature(theirs.signature(for: message).rawRepresentation, for: message))
        #expect(try P256SigningKey(theirs).publicKey.x963 == stored.publicKey.x963)
        let other = try P384SigningKey(P384.Signing.PrivateKey())
        #expect(try other.publicKey.isValidSignature(other.signature(for: message), for: message))
        let last = try P521SigningKey(P521.Signing.PrivateKey())
        #expect(try P521.Signing.PrivateKey(last).x963Representation == bytes(last.externalRepresentation()))
        #expect(try VerifyingKey<P256Curve>(x963: stored.publicKey.x963).pem() == stored.publicKey.pem())
        let error = #expect(throws: KeychainError.self) { try VerifyingKey<P384Curve>(x963: stored.publicKey.x963) }
        #expect(error?.status == .param)
    }

    @Test("Agreement keys agree and decrypt, and interoperate with swift-crypto")
    func agreement() throws {
        let keychain = try Keychain.ephemeral()
        let stored = try keychain.generate(P256AgreementKey.self, tag: "agreement", isExtractable: false)
        let other = try P256AgreementKey()
        let (mine, theirs) = (
            try stored.sharedKey(with: other.publicKey, count: 32, sharedInfo: message),
            try other.sharedKey(with: stored.publicKey, count: 32, sharedInfo: message)
        )
        #expect(mine == theirs && mine.count == 32)
        #expect(bytes(try stored.decrypt(stored.publicKey.encrypt("a secret"))) == Data("a secret".utf8))
        let crypto = try P256.KeyAgreement.PrivateKey(other)
        let shared = try crypto.sharedSecretFromKeyAgreement(with: .init(x963Representation: stored.publicKey.x963))
        let derived = shared.x963DerivedSymmetricKey(using: SHA256.self, sharedInfo: message, outputByteCount: 32)
        #expect(derived.withUnsafeBytes { Data($0) } == bytes(mine))
        let error = #expect(throws: KeychainError.self) { try P256.KeyAgreement.PrivateKey(stored) }
        #expect(error?.status == .unimplemented)
    }

    @Test("Keys are stored, found by tag and type, and deleted")
    func kept() throws {
        let keychain = try Keychain.ephemeral()
        let key = try P256SigningKey()
        try keychain.add(key, tag: "kept", label: "A label")
        #expect(
            try #require(throws: KeychainError.self) { try keychain.add(key, tag: "kept") }.status == .duplicateItem)
        let found = try keychain.key(P256SigningKey.self, tag: "kept")
        #expect(found.isStored)
        #expect(try found.publicKey.x963 == key.publicKey.x963)
        let wrong = #expect(throws: KeychainError.self) { try keychain.key(P384SigningKey.self, tag: "kept") }
        #expect(wrong?.status == .param)
        try keychain.add(P256SigningKey(), tag: "kept")
        #expect(throws: KeychainError.self) { try keychain.key(P256SigningKey.self, tag: "kept") }
        try keychain.deleteKey(tag: "kept")
        #expect(
            try #require(throws: KeychainError.self) { try keychain.key(P256SigningKey.self, tag: "kept") }.status
                == .itemNotFound)
        #expect(
            try #require(throws: KeychainError.self) { try keychain.deleteKey(tag: "kept") }.status == .itemNotFound)
    }

    @Test("Keys are read from files and written to files")
    func files() throws {
        let key = try RSAPrivateKey(bits: 2048)
        let sealed = try key.pem(passphrase: "a passphrase")
        #expect(try RSAPrivateKey(file: sealed, passphrase: "a passphrase").publicKey.pkcs1 == key.publicKey.pkcs1)
        for passphrase in [nil, "another"] {
            let error = #expect(throws: KeychainError.self) { try RSAPrivateKey(file: sealed, passphrase: passphrase) }
            #expect(error?.status == .authFailed)
        }
        let wrong = #expect(throws: KeychainError.self) { try P256SigningKey(file: key.pem()) }
        #expect(wrong?.status == .param)
        let other = #expect(throws: KeychainError.self) { try P256SigningKey(file: "no key") }
        #expect(other?.status == .param)
        #expect(try P384SigningKey(file: P384.Signing.PrivateKey().pemRepresentation).handle.isStored == false)
    }

    @Test(
        "A weak RSA key causes a warning to the program's logger, in memory and in the keychain; a refused size does not"
    )
    func weak() throws {
        let warnings = Mutex<[String]>([])
        let log = ProgramLog { text in warnings.withLock { $0.append(text) } }
        try ProgramLog.$current.withValue(log) {
            let keychain = try Keychain.ephemeral()
            #expect(throws: KeychainError.self) { try RSAPrivateKey(bits: 100) }
            _ = try RSAPrivateKey(bits: 2048)
            #expect(warnings.withLock { $0.isEmpty })
            _ = try RSAPrivateKey(bits: 512)
            _ = try keychain.generate(RSAPrivateKey.self, bits: 512, tag: "a")
            _ = try keychain.generate(RSAPrivateKey.self, bits: 1024, tag: "b")
        }
        #expect(warnings.withLock { $0.count } == 2)
    }
}

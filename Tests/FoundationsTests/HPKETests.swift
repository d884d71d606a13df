// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import OpenSSLCrypto
import SecretMemory
import Testing

/// The reference is swift-crypto. Its HPKE has the vectors of RFC 9180.
@Suite("HPKE")
struct HPKETests {
    private static let suite = Crypto.HPKE.Ciphersuite(
        kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_256)

    @Test("A message that swift-crypto seals is opened, and one that is sealed is opened by swift-crypto")
    func bothWays() throws {
        for count in [0, 1, 32, 100] {
            let key = Curve25519.KeyAgreement.PrivateKey()
            let (message, info) = (Array(repeating: UInt8(count), count: count), Array("info \(count)".utf8))
            var sender = try Crypto.HPKE.Sender(
                recipientKey: key.publicKey, ciphersuite: Self.suite, info: Data(info))
            let foreign = Array(sender.encapsulatedKey) + Array(try sender.seal(Data(message)))
            let opened = try Self.open(foreign, with: SecretBytes(key.rawRepresentation), info: info)
            #expect(opened == SharedSecret(copying: message))

            let sealed = try OpenSSLCrypto.HPKE.seal(
                SecretBytes(message), to: Array(key.publicKey.rawRepresentation), info: info)
            #expect(sealed.count == count + OpenSSLCrypto.HPKE.overhead)
            var recipient = try Crypto.HPKE.Recipient(
                privateKey: key, ciphersuite: Self.suite, info: Data(info), encapsulatedKey: Data(sealed.prefix(32)))
            #expect(Array(try recipient.open(Data(sealed.dropFirst(32)))) == message)
        }
    }

    private static func open(
        _ sealed: [UInt8], with key: borrowing SecretBytes, info: [UInt8]
    ) throws -> SecretMemory.SharedSecret? {
        try OpenSSLCrypto.HPKE.open(sealed, with: key, publicKey: try X25519.publicKey(of: key), info: info)
    }

    @Test("A public key that is not that of the private key opens nothing, and does not change the agreement")
    func ownPublicKey() throws {
        let key = SecretBytes.random(count: 32)
        let other = SecretBytes.random(count: 32)
        let own = try X25519.publicKey(of: key)
        let foreign = try X25519.publicKey(of: other)
        let sealed = try OpenSSLCrypto.HPKE.seal(SecretBytes([1]), to: own, info: [])
        #expect(try OpenSSLCrypto.HPKE.open(sealed, with: key, publicKey: foreign, info: []) == nil)
        let agreed = try X25519.sharedSecret(key, own: own, peer: foreign).withUnsafeBytes { Array($0) }
        #expect(try X25519.sharedSecret(key, own: foreign, peer: foreign).withUnsafeBytes { Array($0) } == agreed)
        #expect(try X25519.sharedSecret(other, own: foreign, peer: own).withUnsafeBytes { Array($0) } == agreed)
        for count in [0, 31, 33] {
            #expect(throws: OpenSSLError.self) {
                _ = try X25519.sharedSecret(key, own: Array(repeating: 1, count: count), peer: foreign)
            }
        }
    }

    @Test("Another key, another info, a changed byte and a missing byte open nothing")
    func refusals() throws {
        let key = SecretBytes.random(count: 32)
        let sealed = try OpenSSLCrypto.HPKE.seal(
            SecretBytes(Array(0..<32)), to: try X25519.publicKey(of: key), info: [1])
        #expect(try Self.open(sealed, with: key, info: [1]) == SharedSecret(copying: Array(0..<32)))
        #expect(try Self.open(sealed, with: key, info: [2]) == nil)
        let other = SecretBytes.random(count: 32)
        #expect(try Self.open(sealed, with: other, info: [1]) == nil)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(try Self.open(changed, with: key, info: [1]) == nil, "byte \(index)")
            #expect(try Self.open(Array(sealed.prefix(index)), with: key, info: [1]) == nil)
        }
    }

    @Test("Two seals of one message have nothing in common")
    func fresh() throws {
        let key = try X25519.publicKey(of: .random(count: 32))
        let seals = try (0..<2).map { _ in
            try OpenSSLCrypto.HPKE.seal(SecretBytes(Array(0..<32)), to: key, info: [])
        }
        #expect(seals[0].prefix(32) != seals[1].prefix(32))
        #expect(seals[0].suffix(48) != seals[1].suffix(48))
    }

    @Test("A public key of small order or of another length is refused", arguments: [0, 31, 32, 33])
    func publicKeys(_ count: Int) {
        // 32 zero bytes are a point of small order (RFC 7748, section 6.1).
        #expect(throws: OpenSSLError.self) {
            _ = try OpenSSLCrypto.HPKE.seal(
                SecretBytes([1]), to: Array(repeating: 0, count: count), info: [])
        }
    }
}

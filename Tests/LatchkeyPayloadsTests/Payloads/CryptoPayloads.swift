// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Testing

import Latchkey
@testable import LatchkeyPayloads

/// Payload boxes of one chunk, made and read with swift-crypto's HPKE.
enum CryptoPayloads {
    private static let context = Data("comparison".utf8)
    private static let data = Data("additional".utf8)
    /// The last chunk, and the digest of the additional data.
    private static let authenticated = Data([1]) + Data(SHA256.hash(data: data))

    private static func header(_ suite: PayloadSuite) -> Data {
        switch suite {
        case .p256: Data("LKPAYBOX".utf8) + [1, 0, 0x00, 0x10]
        case .x25519: Data("LKPAYBOX".utf8) + [1, 0, 0x00, 0x20]
        case .xWing: Data("LKPAYBOX".utf8) + [1, 0, 0x64, 0x7A]
        }
    }

    private static func info(_ suite: PayloadSuite) -> Data {
        Data("latchkey v1 payload box".utf8) + header(suite) + context
    }

    static func compare(_ suite: PayloadSuite, payload: Data) throws {
        switch suite {
        case .p256:
            let key = P256.KeyAgreement.PrivateKey()
            let ours = try PayloadPrivateKey(P256AgreementKey(key))
            try compare(
                key, ours, HPKE.Ciphersuite(kem: .P256_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_256), 65, payload)
        case .x25519:
            let key = Curve25519.KeyAgreement.PrivateKey()
            let ours = try PayloadPrivateKey(.x25519, secret: key.rawRepresentation)
            let suite = HPKE.Ciphersuite(kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_256)
            try compare(key, ours, suite, 32, payload)
        case .xWing:
            let key = try XWingMLKEM768X25519.PrivateKey.generate()
            let ours = try PayloadPrivateKey(.xWing, secret: key.seedRepresentation)
            try compareHybrid(key, ours, payload)
        }
    }

    private static func compare<Key: HPKEDiffieHellmanPrivateKey>(
        _ key: Key, _ ours: PayloadPrivateKey, _ suite: HPKE.Ciphersuite, _ length: Int, _ payload: Data
    ) throws {
        let box = try PayloadBox.seal(payload, to: ours.publicKey, context: context, authenticating: data)
        #expect(box.starts(with: header(ours.suite)))
        var recipient = try HPKE.Recipient(
            privateKey: key, ciphersuite: suite, info: info(ours.suite),
            encapsulatedKey: Data(box.dropFirst(12).prefix(length)))
        #expect(try recipient.open(Data(box.dropFirst(12 + length)), authenticating: authenticated) == payload)

        var sender = try HPKE.Sender(recipientKey: key.publicKey, ciphersuite: suite, info: info(ours.suite))
        let theirs = header(ours.suite) + sender.encapsulatedKey
        let opened = try PayloadBox.open(
            theirs + sender.seal(payload, authenticating: authenticated), with: ours, context: context,
            authenticating: data)
        #expect(opened.withUnsafeBytes { Data($0) } == payload)
    }

    private static func compareHybrid(
        _ key: XWingMLKEM768X25519.PrivateKey, _ ours: PayloadPrivateKey, _ payload: Data
    ) throws {
        let suite = HPKE.Ciphersuite.XWingMLKEM768X25519_SHA256_AES_GCM_256
        let box = try PayloadBox.seal(payload, to: ours.publicKey, context: context, authenticating: data)
        #expect(box.starts(with: header(.xWing)))
        var recipient = try HPKE.Recipient(
            privateKey: key, ciphersuite: suite, info: info(.xWing),
            encapsulatedKey: Data(box.dropFirst(12).prefix(1120)))
        #expect(try recipient.open(Data(box.dropFirst(12 + 1120)), authenticating: authenticated) == payload)

        var sender = try HPKE.Sender(recipientKey: key.publicKey, ciphersuite: suite, info: info(.xWing))
        let theirs = header(.xWing) + sender.encapsulatedKey
        let opened = try PayloadBox.open(
            theirs + sender.seal(payload, authenticating: authenticated), with: ours, context: context,
            authenticating: data)
        #expect(opened.withUnsafeBytes { Data($0) } == payload)
    }
}

// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Crypto
import Foundation
@testable import KeyAttestation
import LinuxSystem
import SecretMemory
import Testing

/// The messages that a verifier accepts, with an attestation key in software that signs any message of the test.
@Suite("Messages of an attestation")
struct AttestationMessageTests {
    private static let staying: UInt32 = 0x0006_0072
    private static let signing: UInt32 = 0x0005_0072
    private static let signer = P256.Signing.PrivateKey()
    private static let key = P256.Signing.PrivateKey()

    private static func field(_ bytes: some Collection<UInt8>) -> [UInt8] {
        [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
    }

    /// `TPMT_PUBLIC` of a key on P-256.
    private static func area(
        _ key: P256.Signing.PublicKey, _ attributes: UInt32, restricted: Bool = false
    ) -> [UInt8] {
        let point = key.rawRepresentation
        let scheme: [UInt8] = restricted ? [0, 0x18, 0, 0x0B] : [0, 0x10]
        return [0, 0x23, 0, 0x0B] + attributes.bigEndianBytes + [0, 0] + [0, 0x10] + scheme + [0, 3, 0, 0x10]
            + field(point.prefix(32)) + field(point.suffix(32))
    }

    private static func name(_ area: [UInt8]) -> [UInt8] { [0, 0x0B] + SHA256.hash(data: area) }

    private static func statement(
        magic: UInt32 = 0xFF54_4347, type: UInt16 = 0x8017, nonce: [UInt8], name: [UInt8]
    ) -> [UInt8] {
        magic.bigEndianBytes + type.bigEndianBytes + field([UInt8](repeating: 1, count: 34)) + field(nonce)
            + [UInt8](repeating: 0, count: 8) + UInt32(3).bigEndianBytes + UInt32(4).bigEndianBytes + [1]
            + UInt64(5).bigEndianBytes + field(name) + field([UInt8](repeating: 2, count: 34))
    }

    private let verifier = AttestationVerifier(anchors: [], at: 0)
    private let challenge: AttestationChallenge
    private let secret = [UInt8](repeating: 9, count: 32)
    private let nonce = [UInt8](repeating: 8, count: 32)

    init() throws {
        let signer = Self.area(Self.signer.publicKey, Self.signing, restricted: true)
        challenge = AttestationChallenge(
            request: AttestationRequest(nonce: nonce, attestationObject: [1], credential: [2], seed: [3]),
            secret: SharedSecret(copying: secret), signer: try PublicArea(decoding: signer), signerArea: signer,
            endorsement: try Certificate(der: Array(Data(base64Encoded: Self.certificate) ?? Data())))
    }

    private func answer(
        _ key: [UInt8], _ statement: [UInt8], secret: [UInt8]? = nil,
        by signer: P256.Signing.PrivateKey = Self.signer
    ) throws -> AttestationAnswer {
        AttestationAnswer(
            key: key, statement: statement,
            signature: Array(try signer.signature(for: Data(statement)).rawRepresentation),
            secret: secret ?? self.secret)
    }

    @Test("The TPM's statement about a key that stays in it is accepted")
    func accepted() throws {
        let area = Self.area(Self.key.publicKey, Self.staying)
        let attested = try verifier.verify(
            try answer(area, Self.statement(nonce: nonce, name: Self.name(area))), to: challenge)
        #expect(attested.publicKey == Array(Self.key.publicKey.x963Representation))
        #expect(attested.resetCount == 3 && attested.restartCount == 4 && attested.firmware == 5)
        // The same from a challenge that was stored.
        let stored = try AttestationChallenge(decoding: challenge.encoded)
        #expect(
            try verifier.verify(try answer(area, Self.statement(nonce: nonce, name: Self.name(area))), to: stored)
                == attested)
    }

    @Test(
        "A key that can leave, was made outside, or only signs for the TPM is refused",
        arguments: [
            0x0006_0070, 0x0006_0062, 0x0006_0052, 0x0007_0072, 0x0002_0072, 0x0000_0000,
        ] as [UInt32])
    func properties(_ attributes: UInt32) throws {
        let area = Self.area(Self.key.publicKey, attributes)
        let answer = try answer(area, Self.statement(nonce: nonce, name: Self.name(area)))
        let error = #expect(throws: AttestationError.self) { try verifier.verify(answer, to: challenge) }
        guard case .wrongProperties = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("Another nonce, key, secret, signer, or kind of statement is refused")
    func substitutions() throws {
        let area = Self.area(Self.key.publicKey, Self.staying)
        let other = Self.area(P256.Signing.PrivateKey().publicKey, Self.staying)
        let name = Self.name(area)
        let good = Self.statement(nonce: nonce, name: name)
        let answers = [
            try answer(area, Self.statement(nonce: [UInt8](repeating: 7, count: 32), name: name)),
            try answer(area, Self.statement(nonce: [], name: name)),
            try answer(other, good), try answer(area, Self.statement(nonce: nonce, name: Self.name(other))),
            try answer(area, good, secret: [UInt8](repeating: 0, count: 32)),
            try answer(area, good, by: Self.key),
            try answer(area, Self.statement(magic: 0xFF54_4346, nonce: nonce, name: name)),
            // A quote, a creation.
            try answer(area, Self.statement(type: 0x8018, nonce: nonce, name: name)),
            try answer(area, Self.statement(type: 0x801A, nonce: nonce, name: name)),
            try answer(area, good + [0]), try answer(area, Array(good.dropLast())),
        ]
        for (index, answer) in answers.enumerated() {
            #expect(throws: AttestationError.self, "\(index)") { try verifier.verify(answer, to: challenge) }
        }
    }

    @Test("Every changed byte, every prefix and an extension of an answer is refused")
    func damaged() throws {
        let area = Self.area(Self.key.publicKey, Self.staying)
        let bytes = try answer(area, Self.statement(nonce: nonce, name: Self.name(area))).encoded
        func verify(_ bytes: [UInt8]) throws {
            _ = try verifier.verify(try AttestationAnswer(decoding: bytes), to: challenge)
        }
        try verify(bytes)
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1 << (index % 8)
            #expect(throws: AttestationError.self, "byte \(index)") { try verify(changed) }
            #expect(throws: AttestationError.self) { try verify(Array(bytes.prefix(index))) }
        }
        #expect(throws: AttestationError.self) { try verify(bytes + [0]) }
    }

    @Test("Messages decode to the encoded values, and no prefix of them decodes")
    func coding() throws {
        let identity = AttestationIdentity(
            certificates: [[1, 2], [3]], attestationObject: [4, 5], attestationKey: [6])
        #expect(try AttestationIdentity(decoding: identity.encoded) == identity)
        #expect(try AttestationRequest(decoding: challenge.request.encoded) == challenge.request)
        for count in identity.encoded.indices {
            #expect(throws: AttestationError.self) {
                try AttestationIdentity(decoding: Array(identity.encoded.prefix(count)))
            }
        }
        for count in challenge.request.encoded.indices {
            #expect(throws: AttestationError.self) {
                try AttestationRequest(decoding: Array(challenge.request.encoded.prefix(count)))
            }
        }
        var random = SystemRandomNumberGenerator()
        for length in 0..<300 {
            let bytes = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            #expect(throws: AttestationError.self) { try AttestationIdentity(decoding: bytes) }
            #expect(throws: AttestationError.self) {
                try AttestationRequest(decoding: Array("LKAC".utf8) + [1] + bytes)
            }
            #expect(throws: AttestationError.self) { try AttestationAnswer(decoding: Array("LKAA".utf8) + [1] + bytes) }
            #expect(throws: AttestationError.self) { try PublicArea(decoding: bytes) }
            #expect(throws: AttestationError.self) { try CertifiedKey(decoding: bytes) }
            #expect(throws: AttestationError.self) {
                try AttestationChallenge(decoding: SharedSecret(copying: Array("LKAS".utf8) + [1] + bytes))
            }
        }
    }

    /// A certificate that only stands for one.
    private static let certificate =
        "MIIC+zCCAeOgAwIBAgIUM8os64GvjpekhGPUCLc8abvZgBcwDQYJKoZIhvcNAQELBQAwDDEKMAgGA1UEAwwBeDAgFw0yNjExMjMy"
        + "MzI5NDVaGA8yMTI2MTAzMDIzMjk0NVowDDEKMAgGA1UEAwwBeDCCASIwDQYJKoZIhvcNAQEBBQADggEPADCCAQoCggEBAJie2Z9W"
        + "RODRXWtCztYQLLI6L+7oQcsPfGKDW84nH/INAQJT8yUSwPAf5tk/ucsH7dxJmEfYVJj6wAbjFXmGesRKaSZSZjiaFPhnZpwq3ODV"
        + "GXN+cL6OAWJCTegpPlJc36Misda3ysbcDZiR1Jjjj3kZfnt/GMZs9MK5rkOZHVL+SBkDrGfBOP9Z/GOuCo8M/kyvEKf6fvHuN9m6"
        + "H8CSIw1tcFiN2QXIBEre5FgmxA891CPGxcTVR0GDzU4rIoSpIs0YpYt4r2oQNV5TRWDpKxE+cUp850L2ya3vO0angmOwEeLS0aGr"
        + "QtSKYUrwNbjgiGwMRw6E86lcLuLJTFdLbv0CAwEAAaNTMFEwHQYDVR0OBBYEFHLFP9WgajcPOWg3Sb9d/PDhsO4IMB8GA1UdIwQY"
        + "MBaAFHLFP9WgajcPOWg3Sb9d/PDhsO4IMA8GA1UdEwEB/wQFMAMBAf8wDQYJKoZIhvcNAQELBQADggEBABdg2zeRhE/oPueRoLOo"
        + "dzs5LDpjQlxoJ1GP4ervmJ75OkiB2nOUyhDQAUpvh8jhf2tQGy1uqByDYr3BxQJKNePb1RsOqXhDVeuvXct53JeiH0QG9Y018CPp"
        + "p8Q7G5uco9uXuG5hDWjswX/gIRX1X35MEycg2zA04KPOPCr2k1nHVTS2IIqaiWPwVyDIUpXTtQ8RpV7Qgj6mmvFo+cZuoEvKAOH8"
        + "NOuRe55V9/M8lVSG2+BJjiSgu3Hda1l06QQQqDcbiKcuToaAMl1rl9qLPzswDqnlfK5JIbs6w975qyLVzHlAnVy87gTOvFeMUxq+"
        + "091RiiEM/I4XW0YVoB2S3X4="
}

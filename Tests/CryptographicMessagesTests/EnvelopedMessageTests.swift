// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Foundation
import KeyServices
import KeychainModel
import KeychainTesting
import SecretMemory
import Testing

@testable import CryptographicMessages

/// Encrypted messages, exchanged with openssl in both directions.
@Suite("Encrypted messages")
struct EnvelopedMessageTests {
    private static let content = Array("A secret of several blocks: 0123456789 0123456789".utf8)
    private static let sha256KDF = ["-keyopt", "ecdh_kdf_md:sha256"]
    private static let oaep = ["-keyopt", "rsa_padding_mode:oaep"]

    private static func opened(_ message: [UInt8], by name: String) throws -> [UInt8] {
        let (party, message) = (try MessageParties.party(name), try CryptographicMessage(message))
        let enveloped = try #require(message.enveloped)
        let recipient = try #require(enveloped.recipient(party.certificate))
        return try enveloped.content(for: recipient, by: party.key)
    }

    @Test(
        "A message that openssl encrypts is decrypted",
        arguments: [
            ("rsa", ["-aes128"]), ("rsa", ["-aes192"]), ("rsa", ["-aes256"]), ("rsa", ["-des3"]),
            ("rsa", ["-aes256", "-stream"]), ("rsa", ["-aes256", "-keyid"]), ("p256", ["-aes128"]),
            ("p256", ["-aes256", "-stream"]), ("p384", ["-aes256"]), ("p521", ["-aes256", "-keyid"]),
        ])
    func foreign(_ name: String, _ options: [String]) throws {
        #expect(try Self.opened(MessageParties.encrypted(Self.content, for: [name], options), by: name) == Self.content)
    }

    @Test(
        "A message that openssl encrypts with other options for the key is decrypted",
        arguments: [
            ("rsa", ["-keyopt", "rsa_padding_mode:oaep"]),
            ("rsa", ["-keyopt", "rsa_padding_mode:oaep", "-keyopt", "rsa_oaep_md:sha256"]),
            ("p256", ["-keyopt", "ecdh_kdf_md:sha256"]), ("p384", ["-keyopt", "ecdh_kdf_md:sha384"]),
        ])
    func foreignKeyOptions(_ name: String, _ options: [String]) throws {
        let openssl = try MessageParties.openssl
        let message = try openssl.output(
            [
                "cms", "-encrypt", "-binary", "-outform", "DER", "-aes256", "-in", try openssl.file(Self.content),
                "-recip", try MessageParties.party(name).issued.file,
            ] + options)
        #expect(try Self.opened(message, by: name) == Self.content)
    }

    @Test("openssl decrypts the messages that are written", arguments: ["rsa", "p256", "p384", "p521"], [false, true])
    func own(_ name: String, _ usesOAEP: Bool) throws {
        for content in [Self.content, [], [UInt8](repeating: 0, count: 100_000)] {
            var draft = EnvelopedMessageDraft(content: content)
            draft.recipients = [try MessageParties.party(name).certificate]
            draft.usesOAEP = usesOAEP
            let message = try draft.encoded()
            #expect(try MessageParties.decrypted(message, by: name) == content)
            #expect(try Self.opened(message, by: name) == content)
        }
    }

    @Test("Each of several recipients decrypts a message, of openssl and of this package")
    func several() throws {
        let names = ["rsa", "p256", "p521"]
        let foreign = try MessageParties.encrypted(Self.content, for: names, ["-aes256"])
        var draft = EnvelopedMessageDraft(content: Self.content)
        draft.recipients = try names.map { try MessageParties.party($0).certificate }
        let own = try draft.encoded()
        for name in names {
            #expect(try Self.opened(foreign, by: name) == Self.content)
            #expect(try Self.opened(own, by: name) == Self.content)
            #expect(try MessageParties.decrypted(own, by: name) == Self.content)
        }
        let message = try #require(try CryptographicMessage(own).enveloped)
        #expect(message.recipient(try MessageParties.party("other").certificate) == nil)
    }

    @Test("A signed message inside of an encrypted one is found and verified")
    func nested() throws {
        let (signer, recipient) = (try MessageParties.party("p256"), try MessageParties.party("rsa"))
        var inner = SignedMessageDraft(content: Self.content)
        inner.signers = [try SigningIdentity(signer.certificate, signer.key)]
        inner.certificates = [signer.certificate]
        var outer = EnvelopedMessageDraft(content: try inner.encodedContent())
        outer.contentType = .cmsSignedData
        outer.recipients = [recipient.certificate]
        let message = try #require(try CryptographicMessage(outer.encoded()).enveloped)
        let content = try Self.opened(outer.encoded(), by: "rsa")
        let signed = try #require(try CryptographicMessage(type: message.contentType, content: content).signed)
        #expect(signed.content.map { Array($0) } == Self.content)
        #expect(signed.verdicts() == [.valid(signer.certificate)])
    }

    @Test("Another key, a wrong block and a wrong content fail with one error")
    func uniform() throws {
        let (party, other) = (try MessageParties.party("rsa"), try MessageParties.party("other"))
        var draft = EnvelopedMessageDraft(content: Self.content)
        draft.recipients = [party.certificate]
        let message = try #require(try CryptographicMessage(draft.encoded()).enveloped)
        let recipient = try #require(message.recipient(party.certificate))
        // A wrong key decrypts to random bytes, and they end with valid padding once in 256 times.
        var statuses: Set<OSStatusCode> = []
        for _ in 0..<4 {
            do {
                #expect(try message.content(for: recipient, by: other.key) != Self.content)
            } catch {
                statuses.insert(error.status)
            }
        }
        // A block that the key decrypts to a content key of another length.
        for count in [0, 16, 31, 33, 64] {
            let block = try [UInt8](repeating: 1, count: count).withUnsafeBytes {
                try party.key.publicKey.encrypted($0, .rsaEncryption(.pkcs1))
            }
            let wrong = MessageRecipient(identifier: recipient.identifier, key: .transported(.pkcs1, block))
            do {
                #expect(try message.content(for: wrong, by: party.key) != Self.content)
            } catch {
                statuses.insert(error.status)
            }
        }
        // Blocks of the wrong length, and a number that is larger than the modulus.
        for block in [[], [UInt8](repeating: 1, count: 10), [UInt8](repeating: 0xFF, count: 256)] {
            let wrong = MessageRecipient(identifier: recipient.identifier, key: .transported(.pkcs1, block))
            do {
                #expect(try message.content(for: wrong, by: party.key) != Self.content)
            } catch {
                statuses.insert(error.status)
            }
        }
        #expect(statuses == [.decode])
    }

    @Test("A key agreement with another key, another point or another wrapped key fails with one error")
    func agreement() throws {
        let party = try MessageParties.party("p256")
        var draft = EnvelopedMessageDraft(content: Self.content)
        draft.recipients = [party.certificate]
        let message = try #require(try CryptographicMessage(draft.encoded()).enveloped)
        let recipient = try #require(message.recipient(party.certificate))
        guard case .agreed(let wrapping, let point, let material, let wrapped) = recipient.key else {
            Issue.record("the recipient has another kind of key")
            return
        }
        let other = try SoftwareKey.generate(KeyKind(.ellipticCurve, bits: 256))
        var badPoint = point
        badPoint[10] ^= 1
        let rows: [(any PrivateKey, MessageRecipient.EncryptedKey)] = [
            (other, recipient.key), (party.key, .agreed(wrapping, point: badPoint, material: material, wrapped)),
            (party.key, .agreed(wrapping, point: [], material: material, wrapped)),
            (party.key, .agreed(wrapping, point: other.publicKey.external, material: material, wrapped)),
            (party.key, .agreed(wrapping, point: point, material: [1], wrapped)),
            (party.key, .agreed(wrapping, point: point, material: material, wrapped.dropLast(8))),
            (party.key, .agreed(wrapping, point: point, material: material, [])),
            (try MessageParties.party("p384").key, recipient.key),
        ]
        for (key, encrypted) in rows {
            let wrong = MessageRecipient(identifier: recipient.identifier, key: encrypted)
            let error = #expect(throws: KeychainError.self) { try message.content(for: wrong, by: key) }
            #expect(error?.status == .decode)
        }
        // The message still has its content.
        #expect(try message.content(for: recipient, by: party.key) == Self.content)
    }

    @Test("A certificate that is not for encryption receives nothing")
    func keyUsage() throws {
        let authority = try MessageParties.authority
        for (usage, isAllowed) in [("digitalSignature", false), ("keyEncipherment", true)] {
            let issued = try authority.issue(
                "/CN=\(usage)", "keyUsage=\(usage)\n", key: ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
                by: authority.root)
            var draft = EnvelopedMessageDraft(content: Self.content)
            draft.recipients = [try Certificate(der: Array(issued.der))]
            if isAllowed {
                #expect(try !draft.encoded().isEmpty)
            } else {
                let error = #expect(throws: KeychainError.self) { try draft.encoded() }
                #expect(error?.status == .keyUsageIncorrect)
            }
        }
        #expect(throws: KeychainError.self) { try EnvelopedMessageDraft(content: []).encoded() }
    }

    @Test("More recipients than the limit are refused, of either kind")
    func limits() throws {
        let (rsa, curve) = (try MessageParties.party("rsa"), try MessageParties.party("p256"))
        let algorithm = MessageWriter.algorithm(.cipherAES256, MessageWriter.octets([UInt8](repeating: 0, count: 16)))
        let transported = MessageWriter.sequence(
            MessageWriter.number(0), CertificateIdentifier(rsa.certificate).der, KeyTransport.pkcs1.algorithm,
            MessageWriter.octets([1]))
        let originator = MessageWriter.explicit(
            1, MessageWriter.algorithm(.keyCurve) + MessageWriter.bits(curve.key.publicKey.external))
        func agreed(_ count: Int) -> [UInt8] {
            let key = MessageWriter.sequence(CertificateIdentifier(curve.certificate).der, MessageWriter.octets([1]))
            return MessageWriter.explicit(
                1,
                MessageWriter.number(3) + MessageWriter.explicit(0, originator) + KeyWrapping.standard.algorithm
                    + MessageWriter.sequence(Array(repeating: key, count: count).flatMap { $0 }))
        }
        func message(_ recipients: [[UInt8]]) -> [UInt8] {
            HandMadeMessage.message(
                .cmsEnvelopedData,
                MessageWriter.sequence(
                    MessageWriter.number(2), MessageWriter.set(recipients),
                    MessageWriter.sequence(
                        MessageWriter.identifier(.cmsData), algorithm,
                        DERElement.of(DERTag.primitive(0), [UInt8](repeating: 0, count: 16)))))
        }
        #expect(
            try CryptographicMessage(message(Array(repeating: transported, count: 1024))).enveloped?.recipients.count
                == 1024)
        #expect(try CryptographicMessage(message([agreed(1024)])).enveloped?.recipients.count == 1024)
        for recipients in [
            Array(repeating: transported, count: 1025), [agreed(1025)], [agreed(1000), agreed(25)],
            Array(repeating: MessageWriter.explicit(3, []), count: 1025),
        ] {
            let error = #expect(throws: KeychainError.self) { try CryptographicMessage(message(recipients)) }
            #expect(error?.status == .dataTooLarge)
        }
    }

    @Test("Two messages with one content share neither key nor vector")
    func fresh() throws {
        var draft = EnvelopedMessageDraft(content: Self.content)
        draft.recipients = [try MessageParties.party("rsa").certificate]
        let one = try #require(try CryptographicMessage(draft.encoded()).enveloped)
        let other = try #require(try CryptographicMessage(draft.encoded()).enveloped)
        #expect(one.vector != other.vector)
        #expect(one.ciphertext != other.ciphertext)
    }

    @Test(
        "Messages that are not supported are refused by name",
        arguments: [
            (["-encrypt", "-aes-256-gcm"], "AuthEnvelopedData"),
            (["-EncryptedData_encrypt", "-aes256"], "EncryptedData"),
            (["-digest_create"], "DigestedData"),
        ])
    func refused(_ words: [String], _ name: String) throws {
        let openssl = try MessageParties.openssl
        let key = words.contains("-EncryptedData_encrypt") ? ["-secretkey", String(repeating: "00", count: 32)] : []
        let recipients = words.contains("-encrypt") ? [try MessageParties.party("rsa").issued.file] : []
        let message = try openssl.output(
            ["cms"] + words + ["-binary", "-outform", "DER", "-in", try openssl.file(Self.content)] + key + recipients)
        let error = #expect(throws: KeychainError.self) { try CryptographicMessage(message) }
        #expect(error?.status == .unimplemented)
        #expect(error?.problem.contains(name) == true)
    }

    @Test("A password as a recipient is not taken for a certificate")
    func password() throws {
        let openssl = try MessageParties.openssl
        let message = try openssl.output([
            "cms", "-encrypt", "-binary", "-outform", "DER", "-aes256", "-pwri_password", "secret", "-in",
            try openssl.file(Self.content),
        ])
        #expect(try CryptographicMessage(message).enveloped?.recipients.count == 0)
    }
}

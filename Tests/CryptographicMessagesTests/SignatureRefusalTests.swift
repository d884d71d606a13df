// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Foundation
import KeychainModel
import KeychainTesting
import Testing

@testable import CryptographicMessages

/// Signed messages that violate RFC 5652. Each is signed correctly, so that only
/// the rule in question refuses it.
@Suite("Refused signatures")
struct SignatureRefusalTests {
    private static func message(_ change: (inout HandMadeMessage) -> Void = { _ in }) throws -> HandMadeMessage {
        var message = HandMadeMessage(try MessageParties.party("rsa"))
        change(&message)
        return message
    }

    @Test("The message that the others are made from is valid, with and without attributes")
    func control() throws {
        #expect(try Self.message().verdict()?.isValid == true)
        #expect(try Self.message { $0.attributes = nil }.verdict()?.isValid == true)
        #expect(try MessageParties.verified(Self.message().encoded()) == Array("content".utf8))
    }

    @Test("Without the attribute messageDigest, or with two, a signature is invalid")
    func digestAttribute() throws {
        let (type, digest) = (
            HandMadeMessage.contentType(.cmsData), HandMadeMessage.digest(of: Array("content".utf8))
        )
        let other = HandMadeMessage.digest(of: Array("other".utf8))
        let value = MessageWriter.octets(HandMadeMessage.hash(Array("content".utf8), .sha256))
        let rows: [([[UInt8]], String)] = [
            ([type], "messageDigest is missing"), ([type, digest, other], "occurs twice"),
            ([type, digest, digest], "DER"),
            ([type, HandMadeMessage.attribute(.messageDigestAttribute)], "must have one value"),
            (
                [type, HandMadeMessage.attribute(.messageDigestAttribute, value, MessageWriter.octets([1]))],
                "one value"
            ),
            ([type, HandMadeMessage.attribute(.messageDigestAttribute, MessageWriter.bits([1]))], "one value"),
            ([type, other], "another digest"), ([digest], "contentType is missing"),
            ([type, HandMadeMessage.contentType(.cmsSignedData), digest], "occurs twice"),
            ([HandMadeMessage.contentType(.cmsSignedData), digest], "content type is not that"),
        ]
        for (attributes, reason) in rows {
            let verdict = try Self.message { $0.attributes = attributes }.verdict()
            #expect(verdict?.isInvalid(reason) == true, "\(reason): \(String(describing: verdict))")
        }
    }

    @Test("Signed attributes in another order than that of DER are refused")
    func order() throws {
        let verdict = try Self.message {
            $0.attributes = [HandMadeMessage.digest(of: Array("content".utf8)), HandMadeMessage.contentType(.cmsData)]
            $0.keepsOrder = true
        }.verdict()
        #expect(verdict?.isInvalid("DER") == true)
    }

    @Test("Empty signed attributes, and those that are not attributes, are no message")
    func malformedAttributes() throws {
        for attributes in [[], [MessageWriter.octets([1])], [MessageWriter.sequence(MessageWriter.octets([1]))]] {
            #expect(throws: KeychainError.self) { try Self.message { $0.attributes = attributes }.verdict() }
        }
    }

    @Test("A content of another type needs signed attributes")
    func otherType() throws {
        let verdict = try Self.message {
            $0.contentType = .cmsEnvelopedData
            $0.attributes = nil
        }.verdict()
        #expect(verdict?.isInvalid("requires signed attributes") == true)
    }

    @Test("The signed attributes of one message are not the content of another")
    func attributesAsContent() throws {
        let attributes = [HandMadeMessage.contentType(.cmsData), HandMadeMessage.digest(of: Array("content".utf8))]
        let verdict = try Self.message {
            $0.content = MessageWriter.set(attributes)
            $0.attributes = nil
        }.verdict()
        #expect(verdict?.isInvalid("attributes of another message") == true)
    }

    @Test("A signer with a missing or ambiguous certificate has no certificate")
    func identifiers() throws {
        let (own, other) = (try MessageParties.party("rsa").certificate, try MessageParties.party("other").certificate)
        let missing = try Self.message { $0.identifier = CertificateIdentifier(other).der }
        guard case .noCertificate? = try missing.verdict() else {
            Issue.record("a signer without a certificate has another verdict")
            return
        }
        // The same certificate twice is one.
        #expect(try Self.message { $0.certificates = [own.der, own.der] }.verdict()?.isValid == true)
        let identifier = try #require(own.extensions.subjectKeyIdentifier.map { Array($0) })
        // A certificate of another key that claims the same key identifier.
        let impostor = try MessageParties.authority.issue(
            "/CN=impostor",
            "subjectKeyIdentifier=\(identifier.map { String(format: "%02X", $0) }.joined(separator: ":"))\n",
            by: nil)
        for list in [[own.der, Array(impostor.der)], [Array(impostor.der), own.der]] {
            let verdict = try Self.message {
                $0.identifier = CertificateIdentifier.key(identifier).der
                $0.certificates = list
            }.verdict()
            guard case .noCertificate(let reason)? = verdict, reason.contains("several") else {
                Issue.record("an ambiguous signer has the verdict \(String(describing: verdict))")
                continue
            }
        }
        // A certificate of the message that is not the signer's is not replaced by one that is given.
        let replaced = try Self.message {
            $0.identifier = CertificateIdentifier.key(identifier).der
            $0.certificates = [Array(impostor.der)]
        }
        #expect(try replaced.verdict([own])?.isInvalid("does not match") == true)
    }

    @Test(
        "A certificate has a name only if the serial number and the issuer, in any case, are its own"
    )
    func names() throws {
        let (own, other) = (try MessageParties.party("rsa").certificate, try MessageParties.party("other").certificate)
        let serialNumber = Array(own.serialNumber)
        let normalized = try #require(DistinguishedName(der: own.issuer.normalized))
        for (issuer, number, isOwn) in [
            (own.issuer, serialNumber, true), (normalized, serialNumber, true), (own.subject, serialNumber, false),
            (own.issuer, Array(other.serialNumber), false), (own.issuer, serialNumber + [0], false),
        ] {
            let identifier = CertificateIdentifier.issuerAndSerialNumber(issuer: issuer, serialNumber: number)
            #expect(identifier.matches(own) == isOwn, "\(identifier)")
        }
        #expect(!CertificateIdentifier.key([]).matches(own))
    }

    @Test("The signature algorithm must fit the digest, the key and its parameters")
    func algorithms() throws {
        let rows: [([UInt8], String)] = [
            (MessageWriter.algorithm(.signatureRSASHA512, MessageWriter.null), "not that of the signer"),
            (MessageWriter.algorithm(.signatureECDSASHA256), "does not match"),
            (MessageWriter.algorithm(.keyRSA, MessageWriter.number(1)), "unexpected parameters"),
            (MessageWriter.algorithm(.signatureECDSASHA256, MessageWriter.null), "unexpected parameters"),
            (MessageWriter.algorithm(.signaturePSS), "cannot be read"),
            (MessageWriter.algorithm(.signaturePSS, MessageWriter.sequence()), "must use SHA-256"),
            (MessageWriter.algorithm(.keyCurve), "is not supported"),
        ]
        for (algorithm, reason) in rows {
            let verdict = try Self.message { $0.signatureAlgorithm = algorithm }.verdict()
            #expect(verdict?.isInvalid(reason) == true, "\(reason): \(String(describing: verdict))")
        }
        #expect(
            try Self.message { $0.signatureAlgorithm = MessageWriter.algorithm(.signatureRSASHA256) }.verdict()?.isValid
                == true)
        let unknown = MessageWriter.algorithm(.cmsData)
        #expect(try Self.message { $0.digestAlgorithm = unknown }.verdict()?.isInvalid("not supported") == true)
    }

    @Test("A content in the message and another one beside it contradict each other")
    func twoContents() throws {
        let signed = try #require(try CryptographicMessage(Self.message().encoded()).signed)
        #expect(signed.verdicts(detachedContent: Array("content".utf8)).allSatisfy { $0.isValid })
        #expect(signed.verdicts(detachedContent: Array("other".utf8)).allSatisfy { $0.isInvalid("given") })
    }

    @Test("More signers, certificates or attributes than a limit are refused")
    func limits() throws {
        let certificate = try MessageParties.party("rsa").certificate.der
        let attribute = (0..<70).map { HandMadeMessage.attribute(ObjectIdentifier(1, 2, 3, UInt($0))) }
        let rows = [
            try Self.message { $0.signerCount = 33 },
            try Self.message { $0.certificates = Array(repeating: certificate, count: 257) },
            try Self.message { $0.attributes = attribute },
        ]
        for message in rows {
            let error = #expect(throws: KeychainError.self) { try message.verdict() }
            #expect(error?.status == .dataTooLarge)
        }
        #expect(try Self.message { $0.signerCount = 32 }.verdict()?.isValid == true)
    }
}

// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Foundation
import KeyServices
import KeychainModel
import KeychainTesting
import Testing

@testable import CryptographicMessages

/// Signed messages, exchanged with openssl in both directions.
@Suite("Signed messages")
struct SignedMessageTests {
    private static let content = Array("The quick brown fox\r\n\0 jumps".utf8)

    private static func time(_ second: Int = 5) -> CertificateTime? {
        CertificateTime(year: 2026, month: 11, day: 26, hour: 4, minute: 3, second: second)
    }

    @Test(
        "A message that openssl signs is verified",
        arguments: [
            ("rsa", ["-md", "sha256"]), ("rsa", ["-md", "sha384"]), ("rsa", ["-md", "sha512"]), ("rsa", ["-stream"]),
            ("rsa", ["-noattr"]), ("rsa", ["-keyid"]), ("p256", ["-md", "sha256"]), ("p384", ["-md", "sha384"]),
            ("p521", ["-md", "sha512"]), ("p256", ["-noattr", "-stream"]), ("p384", ["-keyid", "-stream"]),
            ("rsa", ["-keyopt", "rsa_padding_mode:pss"]),
            ("rsa", ["-keyopt", "rsa_padding_mode:pss", "-keyopt", "rsa_pss_saltlen:-1", "-md", "sha384"]),
            ("rsa", ["-keyopt", "rsa_padding_mode:pss", "-keyopt", "rsa_pss_saltlen:0"]),
        ])
    func foreign(_ name: String, _ options: [String]) throws {
        let message = try MessageParties.signed(Self.content, by: name, ["-nodetach"] + options)
        let signed = try #require(try CryptographicMessage(message).signed)
        #expect(signed.content.map { Array($0) } == Self.content)
        #expect(signed.contentType == .cmsData)
        #expect(signed.verdicts() == [.valid(try MessageParties.party(name).certificate)])
        #expect((signed.signers.first?.signingTime == nil) == options.contains("-noattr"))
    }

    @Test("A detached signature of openssl verifies the content that is given, and no other")
    func foreignDetached() throws {
        for options in [[], ["-noattr"]] {
            let message = try MessageParties.signed(Self.content, by: "p256", options)
            let signed = try #require(try CryptographicMessage(message).signed)
            #expect(signed.content == nil)
            #expect(signed.verdicts() == [.needsContent])
            #expect(signed.verdicts(detachedContent: Self.content).allSatisfy { $0.isValid })
            #expect(signed.verdicts(detachedContent: Self.content + [0]).allSatisfy { !$0.isValid })
            #expect(signed.verdicts(detachedContent: []).allSatisfy { !$0.isValid })
        }
    }

    @Test(
        "openssl verifies the messages that are written, and finds their content",
        arguments: [
            ("rsa", HashAlgorithm.sha256), ("rsa", .sha384), ("rsa", .sha512), ("p256", .sha256), ("p384", .sha384),
            ("p521", .sha512), ("p256", .sha512),
        ], [false, true])
    func own(_ signer: (String, HashAlgorithm), _ usesPSS: Bool) throws {
        let party = try MessageParties.party(signer.0)
        var draft = SignedMessageDraft(content: Self.content)
        draft.signers = [try SigningIdentity(party.certificate, party.key, hash: signer.1, usesPSS: usesPSS)]
        draft.certificates = [party.certificate]
        draft.signingTime = Self.time()
        draft.announcesCapabilities = true
        let message = try draft.encoded()
        #expect(try MessageParties.verified(message) == Self.content)
        let signed = try #require(try CryptographicMessage(message).signed)
        #expect(signed.verdicts() == [.valid(party.certificate)])
        #expect(signed.signers.first?.signingTime == Self.time())
    }

    @Test("openssl verifies a detached signature that is written, with the content beside it")
    func ownDetached() throws {
        let party = try MessageParties.party("p384")
        var draft = SignedMessageDraft(content: Self.content)
        draft.signers = [try SigningIdentity(party.certificate, party.key)]
        draft.certificates = [party.certificate]
        draft.isDetached = true
        let message = try draft.encoded()
        let openssl = try MessageParties.openssl
        #expect(try MessageParties.verified(message, ["-content", try openssl.file(Self.content)]) == Self.content)
        #expect(try MessageParties.verified(message, ["-content", try openssl.file([1])]) == nil)
        #expect(try MessageParties.verified(message) == nil)
    }

    @Test("Several signers have one verdict each, and openssl agrees")
    func several() throws {
        let parties = try ["rsa", "p256", "p521"].map { try MessageParties.party($0) }
        var draft = SignedMessageDraft(content: Self.content)
        draft.signers = try parties.map { try SigningIdentity($0.certificate, $0.key) }
        draft.certificates = parties.map(\.certificate)
        let message = try draft.encoded()
        #expect(try MessageParties.verified(message) == Self.content)
        let verdicts = try #require(try CryptographicMessage(message).signed).verdicts()
        #expect(Set(verdicts.compactMap(\.certificate)) == Set(parties.map(\.certificate)))
    }

    @Test("openssl's message of two signers has two verdicts")
    func severalForeign() throws {
        let second = try MessageParties.party("p256")
        let message = try MessageParties.signed(
            Self.content, by: "rsa", ["-nodetach", "-signer", second.issued.file, "-inkey", second.issued.keyFile])
        let verdicts = try #require(try CryptographicMessage(message).signed).verdicts()
        #expect(verdicts.count == 2)
        #expect(verdicts.allSatisfy { $0.isValid })
    }

    @Test("Another content type is signed with the message, and openssl finds it")
    func contentType() throws {
        let party = try MessageParties.party("rsa")
        var draft = SignedMessageDraft(content: Self.content)
        draft.contentType = try #require(ObjectIdentifier(text: "1.2.840.113549.1.9.16.1.4"))
        draft.signers = [try SigningIdentity(party.certificate, party.key)]
        draft.certificates = [party.certificate]
        let message = try draft.encoded()
        #expect(try MessageParties.verified(message) == Self.content)
        let signed = try #require(try CryptographicMessage(message).signed)
        #expect(signed.contentType == draft.contentType)
        #expect(signed.verdicts() == [.valid(party.certificate)])
    }

    @Test("A certificate that is not in the message is taken from those that are given")
    func certificateElsewhere() throws {
        let party = try MessageParties.party("rsa")
        let message = try MessageParties.signed(Self.content, by: "rsa", ["-nodetach", "-nocerts"])
        let signed = try #require(try CryptographicMessage(message).signed)
        guard case .noCertificate = signed.verdicts().first else {
            Issue.record("a signer without a certificate has another verdict")
            return
        }
        #expect(
            signed.verdicts(certificates: [try MessageParties.party("p256").certificate, party.certificate])
                == [.valid(party.certificate)])
    }

    @Test("A message without signers holds certificates, and proves nothing")
    func withoutSigners() throws {
        let certificates = try ["rsa", "p256"].map { try MessageParties.party($0).certificate }
        let signed = try #require(try CryptographicMessage(CertificateBundle.pkcs7(certificates)).signed)
        #expect(signed.certificates == certificates)
        #expect(signed.verdicts() == [])
        var draft = SignedMessageDraft(content: Self.content)
        draft.certificates = certificates
        #expect(try CryptographicMessage(draft.encoded()).signed?.signers.count == 0)
    }

    @Test("A signature with SHA-1 or a short key is weak and not valid; MD5 is refused")
    func weak() throws {
        let sha1 = try MessageParties.signed(Self.content, by: "rsa", ["-nodetach", "-md", "sha1"])
        let short = try MessageParties.signed(Self.content, by: "short", ["-nodetach"])
        for message in [sha1, short] {
            guard case .weak? = try #require(try CryptographicMessage(message).signed).verdicts().first else {
                Issue.record("a weak signature has another verdict")
                continue
            }
        }
        let md5 = try MessageParties.signed(Self.content, by: "rsa", ["-nodetach", "-md", "md5"])
        #expect(try CryptographicMessage(md5).signed?.verdicts().first?.isInvalid("MD5") == true)
        let party = try MessageParties.party("rsa")
        for hash in [HashAlgorithm.sha1, .sha224] {
            #expect(throws: KeychainError.self) { try SigningIdentity(party.certificate, party.key, hash: hash) }
        }
    }

    @Test("A key signs only for its own certificate")
    func foreignKey() throws {
        let (one, other) = (try MessageParties.party("rsa"), try MessageParties.party("other"))
        #expect(throws: KeychainError.self) { try SigningIdentity(one.certificate, other.key) }
    }
}

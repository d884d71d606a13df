// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Security
import Testing

/// `CMSEncoder` and `CMSDecoder` as programs use them, with openssl as the other side.
@Suite("CMSEncoder and CMSDecoder")
struct CMSTests {
    private static let authority = Result { try OpenSSLAuthority() }
    private static let rsa = Result { try issue("rsa", ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]) }
    private static let curve = Result { try issue("curve", OpenSSLAuthority.p256) }
    private static let content = Array("the content".utf8)

    private static func issue(_ name: String, _ key: [String]) throws -> OpenSSLAuthority.IssuedCertificate {
        let authority = try authority.get()
        return try authority.issue(
            "/CN=\(name)",
            "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\nsubjectAltName=email:\(name)@example.com\n",
            key: key, by: authority.intermediate)
    }

    private let authority: OpenSSLAuthority
    private let openssl: OpenSSL

    init() throws {
        authority = try Self.authority.get()
        openssl = authority.openssl
    }

    private static func issued(_ name: String) throws -> OpenSSLAuthority.IssuedCertificate {
        try name == "rsa" ? rsa.get() : curve.get()
    }

    private func certificate(_ issued: OpenSSLAuthority.IssuedCertificate) throws -> SecCertificate {
        try #require(SecCertificateCreateWithData(nil, issued.der as CFData))
    }

    /// An identity in memory.
    private func identity(_ name: String) throws -> SecIdentity {
        let issued = try Self.issued(name)
        let file = try openssl.output([
            "pkcs12", "-export", "-passout", "pass:pw", "-in", issued.file, "-inkey", issued.keyFile,
        ])
        var items: CFArray?
        let options = [kSecImportExportPassphrase: "pw"] as CFDictionary
        #expect(SecPKCS12Import(Data(file) as CFData, options, &items) == errSecSuccess)
        let item = try #require((items as? [[String: Any]])?.first)
        return try #require(item[kSecImportItemIdentity as String] as? SecIdentity)
    }

    private func encoder() throws -> CMSEncoder {
        var encoder: CMSEncoder?
        #expect(CMSEncoderCreate(&encoder) == errSecSuccess)
        return try #require(encoder)
    }

    private func encoded(_ encoder: CMSEncoder) throws -> [UInt8] {
        #expect(CMSEncoderUpdateContent(encoder, Self.content, Self.content.count) == errSecSuccess)
        var data: CFData?
        #expect(CMSEncoderCopyEncodedContent(encoder, &data) == errSecSuccess)
        return Array(try #require(data as Data?))
    }

    private func decoder(_ message: [UInt8]) throws -> CMSDecoder {
        var decoder: CMSDecoder?
        #expect(CMSDecoderCreate(&decoder) == errSecSuccess)
        let made = try #require(decoder)
        // In two parts.
        let (head, tail) = (Array(message.prefix(10)), Array(message.dropFirst(10)))
        #expect(CMSDecoderUpdateMessage(made, head, head.count) == errSecSuccess)
        #expect(CMSDecoderUpdateMessage(made, tail, tail.count) == errSecSuccess)
        return made
    }

    private func decoded(_ message: [UInt8]) throws -> CMSDecoder {
        let decoder = try decoder(message)
        #expect(CMSDecoderFinalizeMessage(decoder) == errSecSuccess)
        return decoder
    }

    /// The status of the first signer, and the result of the evaluation.
    private func status(
        _ decoder: CMSDecoder, index: Int = 0, evaluate: Bool = false
    ) -> (status: CMSSignerStatus, certificate: OSStatus, trust: SecTrust?) {
        var (status, trust, result) = (CMSSignerStatus.unsigned, SecTrust?.none, OSStatus(1))
        #expect(
            CMSDecoderCopySignerStatus(
                decoder, index, SecPolicyCreateBasicX509(), evaluate, &status, &trust, &result) == errSecSuccess)
        return (status, result, trust)
    }

    private func verified(_ message: [UInt8], _ words: [String] = []) throws -> [UInt8]? {
        let outcome = try openssl.run(
            [
                "cms", "-verify", "-binary", "-inform", "DER", "-in", try openssl.file(message), "-CAfile",
                authority.root.file, "-certfile", authority.intermediate.file, "-purpose", "any",
            ] + words)
        return outcome.status == 0 ? outcome.output : nil
    }

    private func content(_ decoder: CMSDecoder) -> [UInt8]? {
        var data: CFData?
        #expect(CMSDecoderCopyContent(decoder, &data) == errSecSuccess)
        return (data as Data?).map { Array($0) }
    }

    // MARK: Signatures

    @Test("A message that is signed is verified by openssl and by the decoder", arguments: ["rsa", "curve"])
    func signed(_ name: String) throws {
        let encoder = try encoder()
        #expect(CMSEncoderAddSigners(encoder, try identity(name)) == errSecSuccess)
        #expect(CMSEncoderAddSupportingCerts(encoder, try certificate(authority.intermediate)) == errSecSuccess)
        #expect(
            CMSEncoderAddSignedAttributes(encoder, [.attrSigningTime, .attrSmimeCapabilities]) == errSecSuccess)
        let message = try encoded(encoder)
        #expect(try verified(message) == Self.content)
        let decoder = try decoded(message)
        #expect(content(decoder) == Self.content)
        #expect(status(decoder).status == .valid)
        var number = 0
        #expect(CMSDecoderGetNumSigners(decoder, &number) == errSecSuccess && number == 1)
        var found: SecCertificate?
        #expect(CMSDecoderCopySignerCert(decoder, 0, &found) == errSecSuccess)
        #expect(found == (try certificate(Self.issued(name))))
        var address: CFString?
        #expect(CMSDecoderCopySignerEmailAddress(decoder, 0, &address) == errSecSuccess)
        #expect(address == "\(name)@example.com" as CFString)
        var time: CFAbsoluteTime = 0
        #expect(CMSDecoderCopySignerSigningTime(decoder, 0, &time) == errSecSuccess)
        #expect(abs(time - Date().timeIntervalSinceReferenceDate) < 300)
        var isEncrypted: DarwinBoolean = true
        #expect(CMSDecoderIsContentEncrypted(decoder, &isEncrypted) == errSecSuccess && !isEncrypted.boolValue)
        var certificates: CFArray?
        #expect(CMSDecoderCopyAllCerts(decoder, &certificates) == errSecSuccess)
        #expect(certificates?.count == 2)
    }

    @Test(
        "An untrusted certificate of a signer is invalid, with the reason; an anchor makes it valid"
    )
    func trust() throws {
        let encoder = try encoder()
        #expect(CMSEncoderAddSigners(encoder, [try identity("curve")]) == errSecSuccess)
        #expect(CMSEncoderAddSupportingCerts(encoder, [try certificate(authority.intermediate)]) == errSecSuccess)
        let decoder = try decoded(encoded(encoder))
        let checked = status(decoder, evaluate: true)
        #expect(checked.status == .invalidCert && checked.certificate == errSecNotTrusted)
        let trust = try #require(checked.trust)
        #expect(
            SecTrustSetAnchorCertificates(trust, [try certificate(authority.root)] as CFArray) == errSecSuccess)
        #expect(SecTrustEvaluateWithError(trust, nil))
        #expect(status(decoder).certificate == errSecSuccess)
    }

    @Test("A detached signature needs its content, and is not valid for another one")
    func detached() throws {
        let encoder = try encoder()
        #expect(CMSEncoderAddSigners(encoder, try identity("rsa")) == errSecSuccess)
        #expect(CMSEncoderAddSupportingCerts(encoder, try certificate(authority.intermediate)) == errSecSuccess)
        #expect(CMSEncoderSetHasDetachedContent(encoder, true) == errSecSuccess)
        var isDetached: DarwinBoolean = false
        #expect(CMSEncoderGetHasDetachedContent(encoder, &isDetached) == errSecSuccess && isDetached.boolValue)
        let message = try encoded(encoder)
        #expect(try verified(message, ["-content", try openssl.file(Self.content)]) == Self.content)
        let decoder = try decoded(message)
        #expect(content(decoder) == nil)
        #expect(status(decoder).status == .needsDetachedContent)
        #expect(CMSDecoderSetDetachedContent(decoder, Data([1]) as CFData) == errSecSuccess)
        #expect(status(decoder).status == .invalidSignature)
        #expect(CMSDecoderSetDetachedContent(decoder, Data(Self.content) as CFData) == errSecSuccess)
        #expect(status(decoder).status == .valid)
    }

    @Test("A changed content, SHA-1 and a missing signer are not valid")
    func refused() throws {
        let issued = try Self.issued("rsa")
        func message(_ words: [String]) throws -> [UInt8] {
            try openssl.output(
                [
                    "cms", "-sign", "-nodetach", "-binary", "-outform", "DER", "-in", try openssl.file(Self.content),
                    "-signer", issued.file, "-inkey", issued.keyFile,
                ] + words)
        }
        var changed = try message([])
        let position = try #require(changed.indices.first { changed[$0...].starts(with: Self.content) })
        changed[position] ^= 1
        #expect(status(try decoded(changed)).status == .invalidSignature)
        #expect(status(try decoded(message(["-md", "sha1"]))).status == .invalidSignature)
        let valid = try decoded(message([]))
        #expect(status(valid, index: 1).status == .invalidIndex)
        #expect(status(valid, index: -1).status == .invalidIndex)
        let missing = try decoded(message(["-nocerts"]))
        #expect(status(missing).status == .invalidCert)
        var found: SecCertificate?
        #expect(CMSDecoderCopySignerCert(missing, 0, &found) == errSecItemNotFound)
        #expect(CMSDecoderCopySignerCert(missing, 1, &found) == errSecParam)
    }

    @Test("The chain mode selects the certificates in a message")
    func chainModes() throws {
        let identity = try identity("curve")
        let chain = [try certificate(authority.intermediate), try certificate(authority.root)]
        for (mode, count) in [
            (CMSCertificateChainMode.none, 2), (.signerOnly, 3), (.chain, 3), (.chainWithRoot, 3),
            (.chainWithRootOrFail, 3),
        ] {
            let encoder = try encoder()
            #expect(CMSEncoderAddSigners(encoder, identity) == errSecSuccess)
            #expect(CMSEncoderAddSupportingCerts(encoder, chain) == errSecSuccess)
            #expect(CMSEncoderSetCertificateChainMode(encoder, mode) == errSecSuccess)
            var certificates: CFArray?
            #expect(CMSDecoderCopyAllCerts(try decoded(encoded(encoder)), &certificates) == errSecSuccess)
            #expect(certificates?.count == count, "\(mode)")
        }
        let encoder = try encoder()
        #expect(CMSEncoderAddSigners(encoder, identity) == errSecSuccess)
        #expect(CMSEncoderSetCertificateChainMode(encoder, .chainWithRootOrFail) == errSecSuccess)
        var data: CFData?
        #expect(CMSEncoderCopyEncodedContent(encoder, &data) == errSecCreateChainFailed)
    }

    // MARK: Encryption

    @Test(
        "An encrypted message is decrypted by openssl, and by the decoder with a key of the keychain",
        arguments: ["rsa", "curve"])
    func encrypted(_ name: String) throws {
        let keychain = try TestKeychain(.ephemeral)
        let (signer, recipient) = (try identity(name == "rsa" ? "curve" : "rsa"), try identity(name))
        for isSigned in [false, true] {
            let encoder = try encoder()
            if isSigned { #expect(CMSEncoderAddSigners(encoder, signer) == errSecSuccess) }
            #expect(CMSEncoderAddRecipients(encoder, try certificate(Self.issued(name))) == errSecSuccess)
            let message = try encoded(encoder)
            let issued = try Self.issued(name)
            let opened = try openssl.output([
                "cms", "-decrypt", "-binary", "-inform", "DER", "-in", try openssl.file(message), "-recip",
                issued.file, "-inkey", issued.keyFile,
            ])
            if !isSigned { #expect(opened == Self.content) }
            try keychain.run(groups: ["G"]) {
                #expect(
                    CMSDecoderFinalizeMessage(try decoder(message)) == (isSigned ? errSecSuccess : errSecItemNotFound))
                if !isSigned {
                    #expect(SecItemAdd([kSecValueRef: recipient] as CFDictionary, nil) == errSecSuccess)
                }
                let decoder = try decoded(message)
                #expect(content(decoder) == Self.content)
                var isEncrypted: DarwinBoolean = false
                #expect(CMSDecoderIsContentEncrypted(decoder, &isEncrypted) == errSecSuccess && isEncrypted.boolValue)
                #expect(status(decoder).status == (isSigned ? .valid : .unsigned))
            }
        }
    }

    // MARK: Wrong use

    @Test("A malformed and an unsupported message have statuses of their own")
    func malformed() throws {
        for (bytes, expected) in [
            (Array("no message".utf8), errSecUnknownFormat), ([], errSecUnknownFormat),
            (
                try openssl.output([
                    "cms", "-digest_create", "-binary", "-outform", "DER", "-in", try openssl.file(Self.content),
                ]), errSecUnimplemented
            ),
        ] {
            let decoder = try decoder(bytes)
            #expect(CMSDecoderFinalizeMessage(decoder) == expected)
            var number = 0
            #expect(CMSDecoderGetNumSigners(decoder, &number) == errSecParam)
        }
    }

    @Test("Wrong objects and a wrong order of calls are refused with errSecParam")
    func parameters() throws {
        let encoder = try encoder()
        #expect(CMSEncoderAddSigners(encoder, "text") == errSecParam)
        #expect(CMSEncoderAddRecipients(encoder, [1]) == errSecParam)
        #expect(CMSEncoderAddSupportingCerts(encoder, NSNull()) == errSecParam)
        #expect(CMSEncoderSetEncapsulatedContentTypeOID(encoder, "1.2.x") == errSecParam)
        #expect(CMSEncoderSetEncapsulatedContentTypeOID(encoder, Data([1])) == errSecParam)
        #expect(CMSEncoderSetSignerAlgorithm(encoder, kCMSEncoderDigestAlgorithmSHA1) == errSecInvalidDigestAlgorithm)
        #expect(CMSEncoderSetSignerAlgorithm(encoder, kCMSEncoderDigestAlgorithmSHA256) == errSecSuccess)
        var data: CFData?
        #expect(CMSEncoderCopyEncodedContent(encoder, &data) == errSecParam)
        // The encoder was used.
        #expect(CMSEncoderSetHasDetachedContent(encoder, true) == errSecParam)
        #expect(CMSEncodeContent(nil, nil, nil, false, [], Self.content, Self.content.count, &data) == errSecParam)
        #expect(
            CMSEncodeContent(
                try identity("rsa"), nil, nil, false, [.attrSmimeEncryptionKeyPrefs], Self.content,
                Self.content.count, &data) == errSecUnimplemented)
        let decoder = try decoder([])
        #expect(CMSDecoderUpdateMessage(decoder, Self.content, -1) == errSecParam)
        #expect(CMSDecoderCopySignerStatus(decoder, 0, SecPolicyCreateBasicX509(), true, nil, nil, nil) == errSecParam)
        #expect(CMSDecoderCopySignerStatus(decoder, 0, "text", true, nil, nil, nil) == errSecParam)
    }

    @Test("The content type is that of the message")
    func contentType() throws {
        let encoder = try encoder()
        #expect(CMSEncoderAddSigners(encoder, try identity("rsa")) == errSecSuccess)
        #expect(CMSEncoderSetEncapsulatedContentTypeOID(encoder, "1.2.840.113549.1.9.16.1.4") == errSecSuccess)
        var (one, other): (CFData?, CFData?) = (nil, nil)
        #expect(CMSEncoderCopyEncapsulatedContentType(encoder, &one) == errSecSuccess)
        #expect(CMSDecoderCopyEncapsulatedContentType(try decoded(encoded(encoder)), &other) == errSecSuccess)
        #expect(one == other && one?.length == 11)
    }
}

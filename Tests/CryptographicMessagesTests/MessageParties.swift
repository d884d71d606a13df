// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Foundation
import KeyServices
import KeychainModel
import KeychainTesting

@testable import CryptographicMessages

/// Certificates of openssl with their keys, made once: they sign and receive the messages of the
/// tests.
enum MessageParties {
    struct Party: Sendable {
        let issued: OpenSSLAuthority.IssuedCertificate
        let certificate: Certificate
        let key: SoftwareKey

        fileprivate init(_ issued: OpenSSLAuthority.IssuedCertificate) throws {
            self.issued = issued
            certificate = try Certificate(der: Array(issued.der))
            let pem = try Data(contentsOf: URL(filePath: issued.keyFile))
            guard case .privateKey(let key)? = try pem.withUnsafeBytes({ try KeyFile.read($0) }).first else {
                throw Missing(name: "the private key")
            }
            self.key = key
        }
    }

    private struct Missing: Error { let name: String }

    private static let made = Result {
        let authority = try OpenSSLAuthority()
        func party(_ name: String, _ key: [String]) throws -> Party {
            let address = "subjectAltName=email:\(name)@example.com\n"
            return try Party(
                authority.issue(
                    "/CN=\(name)", "basicConstraints=CA:FALSE\nsubjectKeyIdentifier=hash\n" + address, key: key,
                    by: authority.root))
        }
        func curve(_ name: String) -> [String] { ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(name)"] }
        return (
            authority,
            [
                "rsa": try party("rsa", ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]),
                "other": try party("other", ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]),
                "short": try party("short", ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"]),
                "p256": try party("p256", curve("P-256")), "p384": try party("p384", curve("P-384")),
                "p521": try party("p521", curve("P-521")),
            ]
        )
    }

    static var openssl: OpenSSL { get throws { try made.get().0.openssl } }
    static var authority: OpenSSLAuthority { get throws { try made.get().0 } }

    static func party(_ name: String) throws -> Party {
        guard let party = try made.get().1[name] else { throw Missing(name: name) }
        return party
    }

    // MARK: openssl cms

    /// A message that openssl signs.
    static func signed(_ content: [UInt8], by name: String, _ options: [String] = []) throws -> [UInt8] {
        let party = try party(name)
        return try openssl.output(
            [
                "cms", "-sign", "-binary", "-outform", "DER", "-in", try openssl.file(content), "-signer",
                party.issued.file, "-inkey", party.issued.keyFile,
            ] + options)
    }

    /// A message that openssl encrypts.
    static func encrypted(_ content: [UInt8], for names: [String], _ options: [String] = []) throws -> [UInt8] {
        let recipients = try names.map { try party($0).issued.file }
        return try openssl.output(
            ["cms", "-encrypt", "-binary", "-outform", "DER", "-in", try openssl.file(content)] + options + recipients)
    }

    /// Returns the content that openssl finds in a signed message; nil if it does not verify it.
    static func verified(_ message: [UInt8], _ options: [String] = []) throws -> [UInt8]? {
        let outcome = try openssl.run(
            [
                "cms", "-verify", "-binary", "-inform", "DER", "-in", try openssl.file(message), "-CAfile",
                try authority.root.file, "-purpose", "any",
            ] + options)
        return outcome.status == 0 ? outcome.output : nil
    }

    /// Returns the content that openssl decrypts.
    static func decrypted(_ message: [UInt8], by name: String) throws -> [UInt8] {
        let party = try party(name)
        return try openssl.output([
            "cms", "-decrypt", "-binary", "-inform", "DER", "-in", try openssl.file(message), "-recip",
            party.issued.file, "-inkey", party.issued.keyFile,
        ])
    }
}

extension CryptographicMessage {
    var signed: SignedMessage? {
        guard case .signed(let message) = self else { return nil }
        return message
    }

    var enveloped: EnvelopedMessage? {
        guard case .enveloped(let message) = self else { return nil }
        return message
    }
}

extension SignerVerdict {
    var isValid: Bool {
        if case .valid = self { true } else { false }
    }

    /// Whether the signature is invalid, and the reason contains the text.
    func isInvalid(_ text: String) -> Bool {
        if case .invalid(let reason) = self { reason.contains(text) } else { false }
    }
}

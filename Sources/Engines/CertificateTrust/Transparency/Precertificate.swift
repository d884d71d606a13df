// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import SwiftASN1

/// The bytes that a log signed before the certificate was issued.
enum Precertificate {
    /// Returns the `TBSCertificate` of the precertificate without its poison: that of the
    /// certificate without the list of timestamps (RFC 6962, section 3.2). All other bytes are those
    /// of the certificate.
    static func signedBytes(of certificate: Certificate) throws(CertificateError) -> [UInt8] {
        do {
            let members = try DER.parse(certificate.signedBytes).members()
            return DERElement.of(0x30, try members.flatMap(bytes))
        } catch let error as CertificateError {
            throw error
        } catch {
            throw CertificateError("the certificate has no precertificate: \(error)")
        }
    }

    private static func bytes(of member: ASN1Node) throws -> [UInt8] {
        guard member.isContextSpecific(3) else { return Array(member.encodedBytes) }
        let kept = try member.explicit(3).members().filter {
            try CertificateExtension($0).identifier != .signedCertificateTimestamps
        }
        // A list of extensions is not empty (RFC 5280, section 4.1).
        guard !kept.isEmpty else { return [] }
        return DERElement.of(0xA3, DERElement.of(0x30, kept.flatMap { Array($0.encodedBytes) }))
    }
}

extension SignedCertificateTimestamp {
    /// The bytes that the log signed (RFC 6962, section 3.2).
    ///
    /// - Parameters:
    ///   - precertificate: from ``Precertificate/signedBytes(of:)``.
    ///   - issuerKey: the key that signed the certificate.
    func signedBytes(_ precertificate: [UInt8], issuerKey: SubjectPublicKeyInfo) -> [UInt8] {
        // Version 1, a certificate's timestamp, and the entry of a precertificate.
        [0, 0] + milliseconds.bigEndianBytes + [0, 1] + issuerKey.sha256
            + precertificate.count.bigEndianBytes.suffix(3) + precertificate
            + extensions.count.bigEndianBytes.suffix(2) + extensions
    }
}

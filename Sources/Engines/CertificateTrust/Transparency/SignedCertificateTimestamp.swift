// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// The promise of a log that it has, or will have, a certificate: an SCT (RFC 6962, section 3.2). It
/// is read, and not verified.
public struct SignedCertificateTimestamp: Hashable, Sendable {
    /// SHA-256 of the log's public key.
    public let logIdentifier: [UInt8]
    /// Milliseconds since 1970.
    public let milliseconds: UInt64
    let extensions: [UInt8]
    let algorithm: Algorithm
    let signature: [UInt8]

    /// RFC 5246, section 7.4.1.4.1.
    struct Algorithm: Hashable, Sendable {
        let hash, signature: UInt8
    }

    /// The most timestamps of a certificate that are read. Certificates have two to five.
    public static let maxCount = 64

    /// Reads the timestamps that are embedded in a certificate, in their order. Those of a version
    /// that is not known are left out.
    ///
    /// - Throws: if the extension cannot be read, or has more than ``maxCount`` timestamps.
    public static func embedded(in certificate: Certificate) throws(CertificateError) -> [SignedCertificateTimestamp] {
        guard let value = certificate.extensions[.signedCertificateTimestamps]?.value else { return [] }
        do {
            return try list(Array(try ASN1OctetString(derEncoded: try DER.parse(value)).bytes))
        } catch let error as CertificateError {
            throw error
        } catch {
            throw CertificateError("the list of certificate timestamps is not an OCTET STRING: \(error)")
        }
    }

    /// Reads a `SignedCertificateTimestampList` (RFC 6962, section 3.3).
    ///
    /// - Throws: as ``embedded(in:)``.
    public static func list(_ bytes: [UInt8]) throws(CertificateError) -> [SignedCertificateTimestamp] {
        var reader = TLSReader(bytes)
        var list = TLSReader(try reader.vector(2))
        try reader.requireEnd()
        guard !list.isAtEnd else { throw CertificateError("the list of certificate timestamps is empty") }
        var timestamps: [SignedCertificateTimestamp] = []
        var count = 0
        while !list.isAtEnd {
            count += 1
            guard count <= maxCount else {
                throw CertificateError("the list has more than \(maxCount) certificate timestamps")
            }
            let entry = try list.vector(2)
            guard let version = entry.first else { throw CertificateError("a certificate timestamp is empty") }
            // Version 1 has the number 0.
            if version == 0 { timestamps.append(try SignedCertificateTimestamp(entry)) }
        }
        return timestamps
    }

    private init(_ bytes: [UInt8]) throws(CertificateError) {
        var reader = TLSReader(bytes)
        _ = try reader.number(1)
        logIdentifier = try reader.bytes(32)
        milliseconds = try reader.number(8)
        extensions = try reader.vector(2)
        algorithm = Algorithm(
            hash: UInt8(truncatingIfNeeded: try reader.number(1)),
            signature: UInt8(truncatingIfNeeded: try reader.number(1)))
        signature = try reader.vector(2)
        try reader.requireEnd()
    }
}

extension SignedCertificateTimestamp.Algorithm {
    /// The algorithms that RFC 6962, section 2.1.4, allows; nil for others.
    var identifier: AlgorithmIdentifier? {
        switch (hash, signature) {
        case (4, 1): AlgorithmIdentifier(algorithm: .sha256WithRSA, parameters: nil)
        case (4, 3): AlgorithmIdentifier(algorithm: .ecdsaWithSHA256, parameters: nil)
        default: nil
        }
    }
}

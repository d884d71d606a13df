// SPDX-License-Identifier: Apache-2.0

/// A certificate that continues another one: the same subject and extensions, with a new validity,
/// and the same or a new key.
///
/// It has the bytes to sign; who signs, and where the key is, is not its concern.
public struct CertificateRenewal: Sendable {
    public let previous: Certificate
    /// The content of the BIT STRING of a key: PKCS #1 for RSA, the point for elliptic curves.
    public let key: [UInt8]

    /// - Parameters:
    ///   - previous: the certificate to renew.
    ///   - key: the new key, of the same kind; nil for the same key.
    public init(_ previous: Certificate, key: [UInt8]? = nil) {
        self.previous = previous
        self.key = key ?? Array(previous.publicKey.key)
    }

    // MARK: Signed data

    /// Returns the DER of `TBSCertificate` (RFC 5280, section 4.1).
    ///
    /// - Parameters:
    ///   - issuer: the certificate of the CA; nil if the certificate is self-signed.
    ///   - serialNumber: 16 random bytes. They are encoded as a positive number.
    ///   - start: the first second of the validity.
    ///   - end: its last second.
    ///   - algorithm: the algorithm of the key that signs.
    public func certificate(
        by issuer: Certificate?, serialNumber: [UInt8], from start: CertificateTime, until end: CertificateTime,
        _ algorithm: SigningAlgorithm
    ) -> [UInt8] {
        // A leading byte between 0x40 and 0x7F, so that the number is positive and its length fixed.
        let serial = [0x40 | (serialNumber.first ?? 0) & 0x3F] + serialNumber.dropFirst()
        let validity = DERElement.of(0x30, start.der + end.der)
        let name = Array(issuer?.subject.der ?? previous.subject.der)
        let body =
            DERElement.of(0xA0, DERElement.of(0x02, [2])) + DERElement.of(0x02, serial) + algorithm.der + name
            + validity + Array(previous.subject.der) + publicKeyInfo
        return DERElement.of(0x30, body + DERElement.of(0xA3, extensions(by: issuer)))
    }

    /// Returns the DER of `CertificationRequestInfo` (RFC 2986, section 4.1), with the extensions that
    /// are requested.
    public func request() -> [UInt8] {
        let requested = previous.extensions.all.filter {
            !Self.ofIssuer.contains($0.identifier) && $0.identifier != .subjectKeyIdentifier
        }
        let values = DERElement.of(0x31, DERElement.of(0x30, requested.flatMap { Self.encoded($0, Array($0.value)) }))
        let attribute = DERElement.of(0x30, DERElement.of(0x06, ObjectIdentifier.extensionRequest.content) + values)
        return DERElement.of(
            0x30,
            DERElement.of(0x02, [0]) + Array(previous.subject.der) + publicKeyInfo
                + DERElement.of(0xA0, requested.isEmpty ? [] : attribute))
    }

    /// Returns the signed object: a certificate, or a request for one.
    ///
    /// - Parameters:
    ///   - body: the bytes that ``certificate(by:serialNumber:from:until:_:)`` or ``request()`` has returned.
    ///   - signature: the signature of the body.
    ///   - algorithm: the algorithm of the signature.
    public static func signed(_ body: [UInt8], _ signature: [UInt8], _ algorithm: SigningAlgorithm) -> [UInt8] {
        DERElement.of(0x30, body + algorithm.der + DERElement.of(0x03, [0] + signature))
    }

    // MARK: Parts

    /// `SubjectPublicKeyInfo`: the algorithm of the previous key with the new one.
    private var publicKeyInfo: [UInt8] {
        let algorithm = previous.publicKey.algorithm
        let identifier = DERElement.of(0x06, algorithm.algorithm.content) + Array(algorithm.parameters ?? [])
        return DERElement.of(0x30, DERElement.of(0x30, identifier) + DERElement.of(0x03, [0] + key))
    }

    private func extensions(by issuer: Certificate?) -> [UInt8] {
        let subjectKey = Certificate.keyIdentifier(of: key)
        var encoded: [UInt8] = []
        for each in previous.extensions.all {
            switch each.identifier {
            case .subjectKeyIdentifier: encoded += Self.encoded(each, DERElement.of(0x04, subjectKey))
            case .authorityKeyIdentifier, .transparencyTimestamps: break
            default: encoded += Self.encoded(each, Array(each.value))
            }
        }
        let authorityKey = issuer.map { $0.extensions.subjectKeyIdentifier.map(Array.init) } ?? subjectKey
        if let authorityKey {
            let identifier = DERElement.of(0x30, DERElement.of(0x80, authorityKey))
            encoded += Self.encoded(.authorityKeyIdentifier, isCritical: false, identifier)
        }
        return DERElement.of(0x30, encoded)
    }

    /// Extensions that the issuer decides about.
    private static let ofIssuer: Set<ObjectIdentifier> = [
        .authorityKeyIdentifier, .transparencyTimestamps, .authorityInformationAccess, .crlDistributionPoints,
        .certificatePolicies,
    ]

    private static func encoded(_ each: CertificateExtension, _ value: [UInt8]) -> [UInt8] {
        encoded(each.identifier, isCritical: each.isCritical, value)
    }

    private static func encoded(_ identifier: ObjectIdentifier, isCritical: Bool, _ value: [UInt8]) -> [UInt8] {
        let critical: [UInt8] = isCritical ? DERElement.of(0x01, [0xFF]) : []
        return DERElement.of(
            0x30, DERElement.of(0x06, identifier.content) + critical + DERElement.of(0x04, value))
    }
}

extension ObjectIdentifier {
    /// PKCS #9 (RFC 2985, section 5.4.2).
    fileprivate static let extensionRequest = Self(1, 2, 840, 113549, 1, 9, 14)
    /// RFC 6962, section 3.3: about the previous certificate alone.
    fileprivate static let transparencyTimestamps = Self(1, 3, 6, 1, 4, 1, 11129, 2, 4, 2)
}

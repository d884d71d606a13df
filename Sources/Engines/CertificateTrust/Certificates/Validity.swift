// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// The validity period of a certificate: from notBefore through notAfter, inclusive (RFC 5280,
/// section 4.1.2.5).
///
/// Both are whole seconds, so the certificate is valid until the second of notAfter is over.
public struct Validity: Hashable, Sendable {
    public let notBefore: CertificateTime
    public let notAfter: CertificateTime

    init(_ node: ASN1Node) throws {
        self = try DER.sequence(node, identifier: .sequence) { nodes in
            guard let first = nodes.next(), let last = nodes.next() else {
                throw CertificateError("a validity must have two times")
            }
            return Validity(notBefore: try CertificateTime(first), notAfter: try CertificateTime(last))
        }
    }

    /// Whether the certificate is valid at this time, in seconds since 1970.
    public func contains(_ validationTime: Double) -> Bool {
        hasStarted(at: validationTime) && !hasExpired(at: validationTime)
    }

    func hasStarted(at validationTime: Double) -> Bool { Double(notBefore.secondsSince1970) <= validationTime }

    func hasExpired(at validationTime: Double) -> Bool {
        validationTime.rounded(.down) > Double(notAfter.secondsSince1970)
    }

    init(notBefore: CertificateTime, notAfter: CertificateTime) {
        self.notBefore = notBefore
        self.notAfter = notAfter
    }
}

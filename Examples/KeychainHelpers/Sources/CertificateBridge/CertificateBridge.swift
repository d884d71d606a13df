// SPDX-License-Identifier: Apache-2.0

import Security
import X509

/// Converts certificates from swift-certificates to Security and back.
///
/// The two calls are those that swift-certificates offers on Apple's platforms; `DERFallback.swift`
/// explains where they come from.
public enum CertificateBridge {
    /// Returns the certificate in the form of Security's calls.
    public static func reference(for certificate: Certificate) throws -> SecCertificate {
        try SecCertificate.makeWithCertificate(certificate)
    }

    /// Returns the certificate in the form of swift-certificates.
    ///
    /// - Throws: an error of swift-certificates if the bytes are not an X.509 certificate; Security does not detect
    ///   this before use.
    public static func certificate(for reference: SecCertificate) throws -> Certificate {
        try Certificate(reference)
    }
}

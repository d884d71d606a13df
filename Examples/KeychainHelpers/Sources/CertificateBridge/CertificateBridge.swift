// SPDX-License-Identifier: Apache-2.0

import Security
import X509

/// Takes certificates from swift-certificates to Security and back.
///
/// The two calls inside are those that swift-certificates offers on Apple's platforms; see `DERFallback.swift` for where they come from.
public enum CertificateBridge {
    /// The certificate as Security's calls take it.
    public static func reference(for certificate: Certificate) throws -> SecCertificate {
        try SecCertificate.makeWithCertificate(certificate)
    }

    /// The certificate as swift-certificates reads it.
    ///
    /// - Throws: an error of swift-certificates when the bytes are no X.509 certificate, which Security does not find out before use.
    public static func certificate(for reference: SecCertificate) throws -> Certificate {
        try Certificate(reference)
    }
}

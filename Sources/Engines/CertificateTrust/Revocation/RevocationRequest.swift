// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto

/// One request for revocation evidence: an OCSP responder or a CRL that a certificate names.
struct RevocationRequest: Sendable {
    let exchange: HTTPExchange
    private let method: RevocationOptions

    var url: String { exchange.url }

    /// The most requests of each kind for one certificate.
    private static let maxCount = 2

    /// The requests for a certificate, in order. URLs with other schemes than HTTP, such as LDAP,
    /// are skipped.
    static func all(about certificate: Certificate, of issuer: Certificate, _ options: RevocationOptions)
        -> [RevocationRequest]
    {
        let responders = (certificate.extensions.authorityInformation?.ocspResponders ?? []).prefix(maxExamined)
        let request = HTTPExchange.Content(
            type: OCSPRequest.contentType, bytes: OCSPRequest(about: certificate, of: issuer).der)
        let answers = responders.compactMap { HTTPExchange(url: $0, sending: request) }.prefix(maxCount)
        let points = (certificate.extensions.crlDistributionPoints ?? []).prefix(maxExamined).filter(\.isComplete)
            .flatMap(\.locations)
        let lists = points.compactMap { HTTPExchange(url: $0) }.prefix(maxCount)
        let (ocsp, crl) = (
            answers.map { Self(exchange: $0, method: .ocsp) }, lists.map { Self(exchange: $0, method: .lists) }
        )
        return (options.contains(.prefersLists) ? crl + ocsp : ocsp + crl).filter { options.allows($0.method) }
    }

    private static let maxExamined = 16

    /// The maximum size of a response, in bytes.
    var maxLength: Int { method == .lists ? CertificateRevocationList.maxLength : OCSPResponse.maxLength }

    /// Parses a response.
    func statement(_ bytes: [UInt8]) throws(CertificateError) -> any RevocationEvidence {
        method == .lists ? try CertificateRevocationList(der: bytes) : try OCSPResponse(der: bytes)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto

/// One place where a certificate says that its revocation would be told, and how that is asked.
struct RevocationQuestion: Sendable {
    let exchange: HTTPExchange
    private let way: RevocationOptions

    var place: String { exchange.url }

    /// The most places of a kind that are asked for one certificate.
    private static let greatestNumber = 2

    /// The questions about a certificate, the first to be asked first. Places that cannot be asked, such as those of LDAP, are passed over.
    static func all(about certificate: Certificate, of issuer: Certificate, _ options: RevocationOptions) -> [RevocationQuestion] {
        let responders = (certificate.extensions.authorityInformation?.ocspResponders ?? []).prefix(greatestLookedAt)
        let request = HTTPExchange.Content(type: OCSPRequest.contentType, bytes: OCSPRequest(about: certificate, of: issuer).der)
        let answers = responders.compactMap { HTTPExchange(url: $0, sending: request) }.prefix(greatestNumber)
        let points = (certificate.extensions.crlDistributionPoints ?? []).prefix(greatestLookedAt).filter(\.isWhole).flatMap(\.locations)
        let lists = points.compactMap { HTTPExchange(url: $0) }.prefix(greatestNumber)
        let (ocsp, crl) = (answers.map { Self(exchange: $0, way: .ocsp) }, lists.map { Self(exchange: $0, way: .lists) })
        return (options.contains(.prefersLists) ? crl + ocsp : ocsp + crl).filter { options.allows($0.way) }
    }

    private static let greatestLookedAt = 16

    /// The most bytes of an answer.
    var greatestLength: Int { way == .lists ? CertificateRevocationList.greatestLength : OCSPResponse.greatestLength }

    /// What an answer says.
    func statement(_ bytes: [UInt8]) throws(CertificateError) -> any RevocationStatement {
        way == .lists ? try CertificateRevocationList(der: bytes) : try OCSPResponse(der: bytes)
    }
}

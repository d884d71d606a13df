// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto

/// One place where a certificate says that its revocation would be told, and how that is asked.
struct RevocationQuestion: Sendable {
    /// Nil where the place cannot be asked, as one of LDAP.
    let exchange: HTTPExchange?
    let place: String
    private let way: RevocationOptions

    /// The most places of a kind that are asked for one certificate.
    private static let greatestNumber = 2

    /// The questions about a certificate, the first to be asked first.
    static func all(about certificate: Certificate, of issuer: Certificate, _ options: RevocationOptions) -> [RevocationQuestion] {
        let responders = certificate.extensions.authorityInformation?.ocspResponders ?? []
        let request = HTTPExchange.Content(type: OCSPRequest.contentType, bytes: OCSPRequest(about: certificate, of: issuer).der)
        let answers = responders.prefix(greatestNumber).map {
            RevocationQuestion(exchange: HTTPExchange(url: $0, sending: request), place: $0, way: .ocsp)
        }
        let points = (certificate.extensions.crlDistributionPoints ?? []).filter(\.isWhole).flatMap(\.locations)
        let lists = points.prefix(greatestNumber).map { RevocationQuestion(exchange: HTTPExchange(url: $0), place: $0, way: .lists) }
        return (options.contains(.prefersLists) ? lists + answers : answers + lists).filter { options.allows($0.way) }
    }

    /// The most bytes of an answer.
    var greatestLength: Int { way == .lists ? CertificateRevocationList.greatestLength : 1 << 16 }

    /// What an answer says.
    func statement(_ bytes: [UInt8]) throws(CertificateError) -> any RevocationStatement {
        way == .lists ? try CertificateRevocationList(der: bytes) : try OCSPResponse(der: bytes)
    }
}

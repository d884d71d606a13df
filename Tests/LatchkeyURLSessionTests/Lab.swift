// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Foundation
import KeychainTesting
import LatchkeyURLSession
import NIOSSL

/// The CA of the servers, and one that a person in the middle has.
struct Lab: Sendable {
    typealias Issued = OpenSSLAuthority.IssuedCertificate

    let authority: OpenSSLAuthority
    let middle: OpenSSLAuthority
    let server: Issued

    private static let made = Result {
        let authority = try OpenSSLAuthority()
        return Lab(authority: authority, middle: try OpenSSLAuthority(), server: try Self.issue(by: authority))
    }
    static func shared() throws -> Lab { try made.get() }

    /// The name in the certificates of the servers.
    static let host = "localhost"

    static func issue(by authority: OpenSSLAuthority, name: String = host, days: Int = 90) throws -> Issued {
        try authority.issue(
            "/CN=\(name)", OpenSSLAuthority.server("DNS:\(name)"), days: days, by: authority.intermediate)
    }

    func trust() throws -> PeerTrust { .only([try authority.root.parsed()]) }

    /// A session that trusts the CA alone.
    func session(
        _ delegate: (any URLSessionDelegate)? = nil, pins: [Pin] = [], settings: AppTransportSecurity = .strict,
        trust: PeerTrust? = nil, _ change: (URLSessionConfiguration) -> Void = { _ in }
    ) throws -> URLSession {
        let policy = ConnectionPolicy(settings, pins: try Self.pins(pins))
        var transport = LatchkeyTransport(policy: policy, trust: try trust ?? self.trust())
        transport.usesProxyEnvironment = false
        let configuration = URLSessionConfiguration.latchkey(transport)
        configuration.httpCookieStorage = HTTPCookieStorage.sharedCookieStorage(
            forGroupContainerIdentifier: UUID().uuidString)
        configuration.urlCache = nil
        change(configuration)
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    static func pins(_ pins: [Pin]) throws -> PinConfiguration {
        guard !pins.isEmpty else { return PinConfiguration() }
        return try PinConfiguration([
            PinSet(DomainRule(DomainName(host)), [PinRequirement(.leaf, pins)], requiresBackup: false)
        ])
    }

    /// A new certificate for the key of another, as a file.
    func renewal(of old: Issued) throws -> String {
        let openssl = authority.openssl
        let publicKey = Data(try openssl.output(["pkey", "-in", old.keyFile, "-pubout"]))
        let der = try authority.issue(
            "/CN=renewed", OpenSSLAuthority.server("DNS:\(Self.host)"), publicKey: publicKey,
            by: authority.intermediate)
        let pem =
            "-----BEGIN CERTIFICATE-----\n\(der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed]))\n-----END CERTIFICATE-----\n"
        return try openssl.file(Array(pem.utf8))
    }
}

extension OpenSSLAuthority.IssuedCertificate {
    func parsed() throws -> Certificate { try Certificate(der: Array(der)) }
    func pin() throws -> Pin { Pin(try parsed()) }
}

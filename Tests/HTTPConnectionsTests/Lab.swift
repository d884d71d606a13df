// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Foundation
import HTTPConnections
import KeychainTesting
import LatchkeyNIOSSL
import NIOCore
import NIOSSL
import TransportPolicy

/// A CA with a server certificate for localhost, made once for all tests, and clients that trust it.
struct Lab: Sendable {
    let authority: OpenSSLAuthority
    let identity: OpenSSLAuthority.IssuedCertificate
    /// Another CA with the same names, as a man in the middle has it.
    let other: OpenSSLAuthority

    private static let made = Result {
        let authority = try OpenSSLAuthority()
        let names = OpenSSLAuthority.server("DNS:localhost,IP:127.0.0.1")
        let identity = try authority.issue("/CN=localhost", names, by: authority.intermediate)
        return Lab(authority: authority, identity: identity, other: try OpenSSLAuthority())
    }
    static func shared() throws -> Lab { try made.get() }

    func trust() throws -> PeerTrust { .only([try certificate(authority.root)]) }

    func certificate(_ issued: OpenSSLAuthority.IssuedCertificate) throws -> Certificate {
        try Certificate(der: Array(issued.der))
    }

    /// Connections that trust the CA alone, and may load http from localhost.
    func connections(
        pins: PinConfiguration = PinConfiguration(),
        _ change: (inout HTTPConnections.Configuration) -> Void = { _ in }
    ) throws -> HTTPConnections {
        var settings = AppTransportSecurity.strict
        settings.allowsLocalNetworking = true
        var configuration = HTTPConnections.Configuration()
        configuration.policy = ConnectionPolicy(settings, pins: pins)
        configuration.trust = try trust()
        change(&configuration)
        return HTTPConnections(configuration)
    }

    /// A context for servers with the certificate.
    func context(
        _ protocols: [String] = ["http/1.1"], _ identity: OpenSSLAuthority.IssuedCertificate? = nil,
        intermediates: [OpenSSLAuthority.IssuedCertificate]? = nil,
        _ change: (inout TLSConfiguration) -> Void = { _ in }
    ) throws -> NIOSSLContext {
        let identity = identity ?? self.identity
        let chain = try ([identity] + (intermediates ?? [authority.intermediate])).map {
            NIOSSLCertificateSource.certificate(try NIOSSLCertificate(bytes: Array($0.der), format: .der))
        }
        let key = try NIOSSLPrivateKey(file: identity.keyFile, format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain, privateKey: .privateKey(key))
        configuration.applicationProtocols = protocols
        change(&configuration)
        return try NIOSSLContext(configuration: configuration)
    }
}

/// The response that a test received.
struct Answer: Sendable {
    let exchange: HTTPExchange
    let body: [UInt8]
    var text: String { String(decoding: body, as: UTF8.self) }
}

extension HTTPConnections {
    /// Makes an exchange, and reads its body.
    func answer(
        _ url: String, _ method: String = "GET", fields: [HTTPField] = [], body: HTTPRequestBody = .none,
        review: (any ServerReview)? = nil, inactivity: TimeAmount = .seconds(60)
    ) async throws -> Answer {
        guard let parsed = URL(string: url) else { throw HTTPFailure(.badURL, url) }
        let request = HTTPRequest(method, try HTTPTarget(parsed), fields: fields, body: body)
        let exchange = try await exchange(request, review: review, inactivity: inactivity)
        var bytes: [UInt8] = []
        for try await chunk in exchange.body { bytes += Array(buffer: chunk) }
        return Answer(exchange: exchange, body: bytes)
    }

    /// The failure of an exchange; nil if it succeeds.
    func failure(
        _ url: String, _ method: String = "GET", body: HTTPRequestBody = .none, review: (any ServerReview)? = nil,
        inactivity: TimeAmount = .seconds(60)
    ) async -> HTTPFailure? {
        do {
            _ = try await answer(url, method, body: body, review: review, inactivity: inactivity)
            return nil
        } catch let failure as HTTPFailure {
            return failure
        } catch {
            return HTTPFailure(TransportErrorCode(rawValue: 0), "\(error)")
        }
    }
}

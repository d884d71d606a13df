// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Foundation
import KeychainTesting
import LatchkeyURLSession
import Testing
import TransportPolicy

/// The errors of refused connections, as a program sees them.
@Suite("URLSession: refusals")
struct RefusalTests {
    private let lab: Lab

    init() throws { lab = try Lab.shared() }

    /// A server that is refused, or a way to one.
    enum Refused: String, CaseIterable, Sendable {
        case expired, otherHost, sha1, shortKey, interception, wrongPin, tls10, tls11, rsaKeyExchange, renegotiation
        case redirectToHTTP, plainHTTP, rejectedByProgram

        /// The expected refusal of the server: the code, the reason, the rule of the certificate, and whether there is
        /// a trust object.
        var expected: (code: Int, reason: String, rule: TrustRule?, hasTrust: Bool) {
            switch self {
            case .expired: (-1201, "violations", .expired, true)
            case .otherHost: (-1202, "violations", .serverName, true)
            case .sha1: (-1202, "violations", .algorithm, true)
            case .shortKey: (-1202, "violations", .key, true)
            case .interception, .wrongPin: (-1202, "violations", nil, true)
            case .tls10, .tls11: (-1200, "version", nil, false)
            case .rsaKeyExchange: (-1200, "algorithms", nil, false)
            case .renegotiation: (-1200, "renegotiation", nil, true)
            case .redirectToHTTP, .plainHTTP: (-1022, "policy", nil, false)
            case .rejectedByProgram: (-1202, "program", nil, true)
            }
        }

        /// Arguments of openssl's server.
        var options: [String] {
            switch self {
            case .tls10: ["-tls1", "-cipher", "DEFAULT@SECLEVEL=0"]
            case .tls11: ["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"]
            case .rsaKeyExchange: ["-tls1_2", "-cipher", "AES128-SHA"]
            case .renegotiation: ["-tls1_2"]
            default: ["-cipher", "DEFAULT@SECLEVEL=0"]
            }
        }

        /// With this path, openssl's server asks for a second handshake.
        var path: String { self == .renegotiation ? "/reneg" : "/" }
    }

    private static let rsa2048 = ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]

    private func identity(_ refused: Refused) throws -> Lab.Issued {
        let (names, issuer) = (OpenSSLAuthority.server("DNS:\(Lab.host)"), lab.authority.intermediate)
        return switch refused {
        case .expired: try Lab.issue(by: lab.authority, days: -1)
        case .otherHost: try Lab.issue(by: lab.authority, name: "other.example")
        case .interception: try Lab.issue(by: lab.middle)
        case .sha1: try lab.authority.issue("/CN=sha1", names, digest: "-sha1", by: issuer)
        case .shortKey:
            try lab.authority.issue(
                "/CN=short", names, key: ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"], by: issuer)
        case .tls10, .tls11, .rsaKeyExchange: try lab.authority.issue("/CN=rsa", names, key: Self.rsa2048, by: issuer)
        default: lab.server
        }
    }

    private func session(_ refused: Refused) throws -> URLSession {
        switch refused {
        case .interception:
            // The user has installed the CA of the person in the middle.
            let anchors = try [lab.authority.root.parsed(), lab.middle.root.parsed()]
            return try lab.session(pins: [lab.server.pin()], trust: .only(anchors))
        case .wrongPin: return try lab.session(pins: [lab.authority.root.pin()])
        case .rejectedByProgram: return try lab.session(AnsweringDelegate { _ in (.rejectProtectionSpace, nil) })
        default: return try lab.session()
        }
    }

    private func error(_ session: URLSession, _ url: URL) async -> URLError? {
        do {
            _ = try await session.data(from: url)
            return nil
        } catch { return error as? URLError }
    }

    /// The error of a request to a server of this kind.
    private func error(_ refused: Refused) async throws -> URLError? {
        let session = try session(refused)
        switch refused {
        case .redirectToHTTP:
            let server = try await WebServer(lab) { _ in .redirect(to: "http://localhost:9/") }
            return await error(session, server.url())
        case .plainHTTP: return await error(session, try #require(URL(string: "http://localhost:9/")))
        default:
            let authority = refused == .interception ? lab.middle : lab.authority
            let server = try await OpenSSLServer(identity(refused), of: authority, refused.options)
            let url = try #require(URL(string: "https://localhost:\(server.port)\(refused.path)"))
            return await error(session, url)
        }
    }

    @Test("Each refusal is a URLError with Apple's code, the TLSRefusal and the trust", arguments: Refused.allCases)
    func refusal(_ refused: Refused) async throws {
        let error = try #require(try await error(refused))
        let refusal = try #require(error.userInfo[NSUnderlyingErrorKey] as? TLSRefusal, "\(error)")
        let expected = refused.expected
        #expect(error.errorCode == expected.code, "\(refusal)")
        #expect("\(refusal.reason)".hasPrefix(expected.reason), "\(refusal)")
        #expect(refusal.trustFailure?.rule == expected.rule, "\(refusal)")
        let trust = error.userInfo["NSURLErrorFailingURLPeerTrustErrorKey"] as? SecTrust
        #expect((trust != nil) == expected.hasTrust)
        #expect(error.failingURL != nil && !refusal.explanation.contains("CERTIFICATE_VERIFY_FAILED"))
        guard refused == .interception || refused == .wrongPin else { return }
        let failure = try #require(refusal.pinFailures.first)
        let pin = try refused == .wrongPin ? lab.authority.root.pin() : lab.server.pin()
        #expect(failure.configured.map(\.pins) == [[pin]] && failure.served.count == 2)
    }

    @Test("Settings that cannot be used are an underlying TLSRefusal too")
    func settings() async throws {
        let session = try lab.session { $0.connectionProxyDictionary = ["HTTPEnable": 0] }
        let error = await error(session, try #require(URL(string: "https://localhost:9/")))
        let refusal = try #require(error?.userInfo[NSUnderlyingErrorKey] as? TLSRefusal)
        #expect(error?.errorCode == -1200 && "\(refusal.reason)" == "unsupported")
    }

    // MARK: Mixed pins

    private func session(_ requirements: [PinRequirement]) throws -> URLSession {
        let rule = try DomainRule(DomainName(Lab.host))
        let pins = try PinConfiguration([PinSet(rule, requirements, requiresBackup: false)])
        var transport = LatchkeyTransport(policy: ConnectionPolicy(pins: pins), trust: try lab.trust())
        transport.usesProxyEnvironment = false
        let configuration = URLSessionConfiguration.latchkey(transport)
        (configuration.urlCache, configuration.httpCookieStorage) = (nil, nil)
        return URLSession(configuration: configuration)
    }

    @Test("Of several pins of one requirement, one right pin is enough; every requirement must be satisfied")
    func mixedPins() async throws {
        let server = try await WebServer(lab) { _ in .text("hello") }
        let (right, wrong) = (try lab.server.pin(), try lab.middle.root.pin())
        let (authority, leaf) = (try lab.authority.root.pin(), PinPlacement.leaf)
        let either = try session([PinRequirement(leaf, [wrong, right])])
        #expect(await error(either, server.url()) == nil)
        let both = try session([
            PinRequirement(leaf, [right]), PinRequirement(.certificateAuthority, [wrong, authority]),
        ])
        #expect(await error(both, server.url()) == nil)
        let mixed = try session([PinRequirement(leaf, [right]), PinRequirement(.certificateAuthority, [wrong])])
        let refused = await error(mixed, server.url())
        #expect(refused?.errorCode == -1202)
        let refusal = try #require(refused?.userInfo[NSUnderlyingErrorKey] as? TLSRefusal)
        let failure = try #require(refusal.pinFailures.first)
        #expect(failure.configured.contains { $0.pins == [wrong] })
        // A pin of a CA is not a leaf's.
        let position = try session([PinRequirement(leaf, [authority])])
        #expect(await error(position, server.url())?.errorCode == -1202)
        #expect(server.requests.count == 2)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import OpenSSLCrypto
import Synchronization
import Testing

@testable import CertificateTrust

/// Fetching revocation evidence from the locations that certificates name, over HTTP on loopback,
/// with limits on time and size, and only if a policy requires it.
@Suite("Revocation from the network")
struct RevocationFetcherTests {
    private let authority: OpenSSLAuthority
    /// Replies with the entries of ``Responses``.
    private let server: LoopbackServer
    private let places = Responses()
    private let good: OpenSSLAuthority.IssuedCertificate
    private let bad: OpenSSLAuthority.IssuedCertificate
    private let revocation: OpenSSLRevocation
    private let fetcher = RevocationFetcher(
        timeout: 120, requestTimeout: 60, transport: RevocationFetcher.httpTransport)

    private final class Responses: Sendable {
        private let replies = Mutex<[String: @Sendable (LoopbackServer.Request) throws -> LoopbackServer.Reply]>([:])

        func set(_ target: String, _ reply: @escaping @Sendable (LoopbackServer.Request) throws -> LoopbackServer.Reply)
        {
            replies.withLock { $0[target] = reply }
        }

        func reply(_ request: LoopbackServer.Request) throws -> LoopbackServer.Reply {
            try replies.withLock { $0[request.target] }?(request) ?? .status(404, [])
        }
    }

    init() throws {
        authority = try OpenSSLAuthority()
        server = try LoopbackServer { [places] in try places.reply($0) }
        let (both, issuer) = (Self.places(server, "/ocsp", "/leafs?a=1"), authority.intermediate)
        good = try authority.issue("/CN=good", OpenSSLAuthority.server("DNS:good.example.com") + both, by: issuer)
        bad = try authority.issue("/CN=bad", OpenSSLAuthority.server("DNS:bad.example.com") + both, by: issuer)
        revocation = try OpenSSLRevocation(authority, revoked: [bad], others: [good])
        let (revocation, openssl) = (revocation, authority.openssl)
        places.set("/ocsp") { request in
            let answer = try revocation.answer(to: openssl.file(request.content), of: issuer, signer: issuer)
            return .content(Array(try Data(contentsOf: URL(filePath: answer))))
        }
        let list = try revocation.listBytes(by: issuer)
        places.set("/leafs?a=1") { _ in .content(list) }
    }

    private static func places(_ server: LoopbackServer, _ responder: String?, _ list: String?) -> String {
        (responder.map { "authorityInfoAccess=OCSP;URI:\(server.url($0))\n" } ?? "")
            + (list.map { "crlDistributionPoints=URI:\(server.url($0))\n" } ?? "")
    }

    private func verdict(
        _ leaf: OpenSSLAuthority.IssuedCertificate, _ options: RevocationOptions?, fetcher: RevocationFetcher? = nil,
        isTrusted: Bool = true,
        ignoredRules: Set<TrustRule> = [],
        by issuer: OpenSSLAuthority.IssuedCertificate? = nil, at date: Date = Date(timeIntervalSinceNow: 120)
    ) throws -> TrustVerdict {
        let chain = try [leaf, issuer ?? authority.intermediate].map { try Certificate(der: Array($0.der)) }
        var evaluation = TrustEvaluation(
            chain, policies: [.server(nil)] + (options.map { [.revocation($0)] } ?? []),
            at: date.timeIntervalSince1970)
        evaluation.anchors = isTrusted ? [try Certificate(der: Array(authority.root.der))] : []
        evaluation.isAnchorsOnly = true
        evaluation.fetcher = fetcher ?? self.fetcher
        evaluation.ignoredRules = ignoredRules
        return evaluation.verdict()
    }

    @Test("OCSP responses and CRLs are fetched, and show the revoked certificate")
    func asked() throws {
        for way in [.ocsp, .lists, [.ocsp, .lists]] as [RevocationOptions] {
            #expect(try verdict(good, way).result.isTrusted)
            #expect(try verdict(bad, way).failure?.rule == .revoked)
        }
        #expect(Set(server.requests.map { "\($0.method) \($0.target)" }) == ["POST /ocsp", "GET /leafs?a=1"])
        // The root has no CRL here, so the status of the intermediate is unknown.
        let required = try verdict(good, [.ocsp, .requiresPositiveResponse])
        #expect(required.failure?.rule == .revocationUnknown && required.failure?.index == 1)
    }

    @Test(
        "The verdict has the time when its status expires; a revoked intermediate breaks its chains"
    )
    func intermediates() throws {
        let place = Self.places(server, nil, "/roots")
        let extensions =
            "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\nsubjectKeyIdentifier=hash\n"
        let issuer = try authority.issue(
            "/CN=Other intermediate", extensions + "authorityKeyIdentifier=keyid\n" + place, by: authority.root)
        let leaf = try authority.issue(
            "/CN=other", OpenSSLAuthority.server("DNS:other.example.com") + Self.places(server, nil, "/others"),
            by: issuer)
        let list = try OpenSSLRevocation(authority, revoked: [], others: [leaf]).listBytes(by: issuer)
        places.set("/others") { _ in .content(list) }
        let (clean, dirty) = (
            try OpenSSLRevocation(authority, revoked: [], others: [issuer]).listBytes(by: authority.root),
            try OpenSSLRevocation(authority, revoked: [issuer], others: []).listBytes(by: authority.root)
        )
        let require: RevocationOptions = [.lists, .requiresPositiveResponse]
        places.set("/roots") { _ in .content(clean) }
        let verdict = try verdict(leaf, require, by: issuer)
        #expect(verdict.result.isTrusted)
        let days = try #require(verdict.revocationKnownUntil) - Date().timeIntervalSince1970
        #expect(29 * 86_400...30 * 86_400 + 60 ~= days)
        places.set("/roots") { _ in .content(dirty) }
        let fresh = RevocationFetcher(timeout: 120, requestTimeout: 60, transport: RevocationFetcher.httpTransport)
        let refused = try self.verdict(leaf, .lists, fetcher: fresh, by: issuer)
        #expect(refused.failure?.rule == .revoked && refused.failure?.index == 1 && refused.revocationKnownUntil == nil)
    }

    @Test(
        "Nothing is fetched without a policy, offline or for an untrusted chain; many verdicts fetch once"
    )
    func notRequested() throws {
        #expect(try verdict(bad, nil).result.isTrusted)
        #expect(try verdict(bad, [.ocsp, .lists, .isOffline]).result.isTrusted)
        #expect(try verdict(bad, .ocsp, isTrusted: false).failure?.rule == .untrusted)
        let expired = try authority.issue(
            "/CN=late", OpenSSLAuthority.server("DNS:late.example.com") + Self.places(server, "/ocsp", nil), days: -1,
            by: authority.intermediate)
        #expect(try verdict(expired, .ocsp).failure?.rule == .expired)
        #expect(try verdict(expired, .ocsp, ignoredRules: [.expired]).result.isTrusted)
        #expect(server.requests.isEmpty)
        for _ in 0..<3 { #expect(try verdict(bad, .ocsp).failure?.rule == .revoked) }
        #expect(server.requests.count == 1)
    }

    /// Replies of broken or malicious servers.
    static let badReplies: [(String, LoopbackServer.Reply)] = [
        ("missing", .status(404, [])), ("nothing", .raw([])), ("no HTTP", .raw(Array("SSH-2.0\r\n\r\n".utf8))),
        ("garbage", .content([0x30, 0x03, 0x02, 0x01, 0x05])),
        ("text", .content(Array("-----BEGIN X509 CRL-----\n".utf8))),
        ("a wrong length", .content([0x30, 0x82, 0xFF, 0xFF, 0x00])),
        ("much too long", .content([0x30, 0x84, 0x7F, 0xFF, 0xFF, 0xF0] + [UInt8](repeating: 0, count: 1 << 20))),
        ("silence", .silence), ("drip", .drip([0x30, 0x82, 0x10, 0x00] + [UInt8](repeating: 0x05, count: 4_096))),
        (
            "a long header",
            .raw(Array("HTTP/1.0 200 OK\r\n".utf8) + [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20))
        ),
    ]

    @Test(
        "Missing, slow and broken servers cost limited time, and only their own evidence", .long,
        arguments: badReplies)
    func broken(_ name: String, _ reply: LoopbackServer.Reply) throws {
        places.set("/ocsp") { _ in reply }
        // A timeout of one second per request. Without it, the drip would take seven minutes, and
        // silence would never end.
        let shortTimeoutFetcher = RevocationFetcher(
            timeout: 60, requestTimeout: 1, transport: RevocationFetcher.httpTransport)
        let clock = ContinuousClock()
        for options in [.ocsp, [.ocsp, .requiresPositiveResponse]] as [RevocationOptions] {
            var result: TrustVerdict?
            let time = try clock.measure { result = try verdict(bad, options, fetcher: shortTimeoutFetcher) }
            #expect(time < .seconds(120), "\(name)")
            let explanation = result?.failure?.explanation ?? ""
            if options.contains(.requiresPositiveResponse) {
                #expect(
                    result?.failure?.rule == .revocationUnknown && explanation.contains(server.url("/ocsp")),
                    "\(name): \(explanation)")
            } else {
                #expect(result?.result.isTrusted == true, "\(name)")
            }
        }
        // If there is another source, it is used.
        let fresh = RevocationFetcher(timeout: 120, requestTimeout: 10, transport: RevocationFetcher.httpTransport)
        #expect(try verdict(bad, [.ocsp, .lists], fetcher: fresh).failure?.rule == .revoked, "\(name)")
    }

    @Test("A failed request does not replace cached evidence")
    func kept() throws {
        let exchange = try #require(HTTPExchange(url: server.url("/leafs?a=1")))
        let list = try CertificateRevocationList(der: revocation.listBytes(by: authority.intermediate))
        let silence = RevocationCache.Outcome.failure(CertificateError("no response"))
        var cache = RevocationCache()
        cache.store(silence, 0, for: exchange)
        if case .failure? = cache[exchange] {} else { Issue.record("the failure is not cached") }
        for outcome in [.success(list), silence] as [RevocationCache.Outcome] {
            cache.store(outcome, 1_000, for: exchange)
            if case .success? = cache[exchange] {} else { Issue.record("the CRL is not cached") }
        }
    }

    @Test("If evidence is unusable, the next location is tried, in the preferred order")
    func others() throws {
        let (revocation, issuer) = (revocation, authority.intermediate)
        let other = try Data(contentsOf: URL(filePath: revocation.answer(about: good, of: issuer, signer: issuer)))
        places.set("/ocsp") { _ in .content(Array(other)) }
        #expect(try verdict(bad, [.ocsp, .lists]).failure?.rule == .revoked)
        #expect(server.requests.map(\.target) == ["/ocsp", "/leafs?a=1"])
        let fresh = RevocationFetcher(timeout: 120, requestTimeout: 60, transport: RevocationFetcher.httpTransport)
        #expect(try verdict(bad, [.ocsp, .lists, .prefersLists], fetcher: fresh).failure?.rule == .revoked)
        #expect(server.requests.map(\.target) == ["/ocsp", "/leafs?a=1", "/leafs?a=1"])
    }

    @Test("Redirections are not followed", arguments: ["http", "https", "relative"])
    func redirections(_ kind: String) throws {
        let list = try revocation.listBytes(by: authority.intermediate)
        let place = server.url("/moved")
        let target =
            ["http": place, "https": place.replacingOccurrences(of: "http:", with: "https:")][kind] ?? "/moved"
        places.set("/leafs?a=1") { _ in .status(302, ["Location: \(target)"]) }
        places.set("/moved") { _ in .content(list) }
        #expect(try verdict(bad, .lists).result.isTrusted)
        #expect(try verdict(bad, [.lists, .requiresPositiveResponse]).failure?.rule == .revocationUnknown)
        #expect(server.requests.map(\.target) == ["/leafs?a=1"])
    }

    @Test("A response that is signed a second after the evaluation started is used")
    func signedMeanwhile() throws {
        let (revocation, openssl, issuer) = (revocation, authority.openssl, authority.intermediate)
        places.set("/ocsp") { request in
            Thread.sleep(forTimeInterval: 1.2)
            let answer = try revocation.answer(to: openssl.file(request.content), of: issuer, signer: issuer)
            return .content(Array(try Data(contentsOf: URL(filePath: answer))))
        }
        let longTimeoutFetcher = RevocationFetcher(
            timeout: 120, requestTimeout: 60, transport: RevocationFetcher.httpTransport)
        #expect(try verdict(bad, .ocsp, fetcher: longTimeoutFetcher, at: Date()).failure?.rule == .revoked)
    }

    @Test("Locations with unsupported URLs are skipped")
    func unsupportedURLs() throws {
        let names = OpenSSLAuthority.server("DNS:ldap.example.com")
        let places = "crlDistributionPoints=URI:ldap://a.example/,URI:ldap://b.example/,URI:\(server.url("/after"))\n"
        let leaf = try authority.issue("/CN=ldap", names + places, by: authority.intermediate)
        let list = try OpenSSLRevocation(authority, revoked: [leaf], others: []).listBytes(by: authority.intermediate)
        self.places.set("/after") { _ in .content(list) }
        #expect(try verdict(leaf, .lists).failure?.rule == .revoked)
    }

    @Test("CRLs among the anchors' files are used if a policy uses CRLs")
    func local() throws {
        let folder = try TemporaryDirectory()
        let list = try revocation.list(by: authority.intermediate)
        try FileManager.default.copyItem(atPath: list, toPath: "\(folder.path)/list.pem")
        try FileManager.default.copyItem(atPath: authority.root.file, toPath: "\(folder.path)/root.pem")
        let anchors = SystemAnchors { [path = folder.path] in SystemAnchors.Locations(files: [], directories: [path]) }
        func rule(_ leaf: OpenSSLAuthority.IssuedCertificate, _ options: RevocationOptions?) throws -> TrustRule? {
            let chain = try [leaf, authority.intermediate].map { try Certificate(der: Array($0.der)) }
            var evaluation = TrustEvaluation(
                chain, policies: [.server(nil)] + (options.map { [.revocation($0)] } ?? []),
                at: Date(timeIntervalSinceNow: 5).timeIntervalSince1970)
            evaluation.systemAnchors = anchors
            return evaluation.verdict().failure?.rule
        }
        #expect(try rule(bad, .lists) == nil)
        try authority.openssl.output(["rehash", folder.path])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).contains { $0.hasSuffix(".r0") })
        #expect(try rule(bad, .lists) == .revoked)
        #expect(try rule(bad, [.lists, .isOffline]) == .revoked)
        #expect(try rule(good, .lists) == nil && rule(bad, .ocsp) == nil && rule(bad, nil) == nil)
        // A damaged CRL in the same file does not affect it.
        let file = try FileManager.default.contentsOfDirectory(atPath: folder.path).first { $0.hasSuffix(".r0") }
        let text = try String(contentsOfFile: list, encoding: .utf8)
        let damaged = "-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----\n"
        try Data((damaged + text).utf8).write(to: URL(filePath: "\(folder.path)/\(try #require(file))"))
        #expect(try rule(bad, .lists) == .revoked)
    }
}

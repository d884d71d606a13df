// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
@testable import LatchkeyURLSession
import NIOSSL
import Synchronization
import Testing

/// Passwords for proxies, through `URLSession`.
@Suite("URLSession: proxies")
struct ProxyAuthenticationTests {
    private let lab: Lab

    init() throws { lab = try Lab.shared() }

    /// Answers the challenges of proxies, and records them.
    private final class ProxyPasswords: NSObject, URLSessionTaskDelegate {
        let seen = Mutex<[String]>([])
        private let passwords: [String]
        private let persistence: URLCredential.Persistence

        init(_ passwords: [String], _ persistence: URLCredential.Persistence = .forSession) {
            (self.passwords, self.persistence) = (passwords, persistence)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @Sendable @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let space = challenge.protectionSpace
            guard space.isProxy() else {
                if space.authenticationMethod != NSURLAuthenticationMethodServerTrust {
                    seen.withLock { $0.append("the server asked") }
                }
                return completionHandler(.performDefaultHandling, nil)
            }
            let (count, status) = (challenge.previousFailureCount, challenge.failureResponse as? HTTPURLResponse)
            let type = space.proxyType == NSURLProtectionSpaceHTTPSProxy ? "https" : "http"
            seen.withLock {
                $0.append(
                    "\(type) \(space.authenticationMethod) \(space.realm ?? "") \(count) \(status?.statusCode ?? 0)")
            }
            guard count < passwords.count else { return completionHandler(.performDefaultHandling, nil) }
            let credential = URLCredential(user: "me", password: passwords[count], persistence: persistence)
            completionHandler(.useCredential, credential)
        }
    }

    private static let right = "Basic " + Data("me:right".utf8).base64EncodedString()

    private func context() throws -> NIOSSLContext {
        let files = [lab.server.file, lab.authority.intermediate.file]
        let certificates = try files.flatMap { try NIOSSLCertificate.fromPEMFile($0) }
        return try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: certificates.map { .certificate($0) },
                privateKey: .privateKey(NIOSSLPrivateKey(file: lab.server.keyFile, format: .pem))))
    }

    private func session(
        _ delegate: any URLSessionDelegate, _ proxy: PasswordProxy, forHTTP plain: PasswordProxy? = nil
    ) throws -> URLSession {
        var settings = AppTransportSecurity.strict
        settings.allowsLocalNetworking = true
        var transport = LatchkeyTransport(policy: ConnectionPolicy(settings), trust: try lab.trust())
        let url = "http://127.0.0.1:\(proxy.port)"
        transport.proxyVariables = [
            "http_proxy": plain.map { "http://127.0.0.1:\($0.port)" } ?? url, "https_proxy": url,
        ]
        let configuration = URLSessionConfiguration.latchkey(transport)
        (configuration.urlCache, configuration.httpCookieStorage) = (nil, nil)
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    private func outcome(_ session: URLSession, _ url: String) async -> String {
        guard let url = URL(string: url) else { return "no URL" }
        do {
            let (data, response) = try await session.data(from: url)
            return "\((response as? HTTPURLResponse)?.statusCode ?? 0) \(String(decoding: data, as: UTF8.self))"
        } catch { return "\((error as NSError).code)" }
    }

    @Test("The delegate is asked for a proxy's password, for tunnels and for http", arguments: ["https", "http"])
    func password(_ scheme: String) async throws {
        let proxy = try await PasswordProxy(try context(), password: Self.right)
        let delegate = ProxyPasswords(["wrong", "right"])
        let session = try session(delegate, proxy)
        #expect(await outcome(session, "\(scheme)://localhost:9/a") == "200 ok")
        #expect(
            delegate.seen.withLock { $0 } == [
                "\(scheme) NSURLAuthenticationMethodHTTPBasic the proxy 0 407",
                "\(scheme) NSURLAuthenticationMethodHTTPBasic the proxy 1 407",
            ])
        // The session knows it now, also for the other kind of request.
        for other in ["https", "http"] { #expect(await outcome(session, "\(other)://localhost:9/b") == "200 ok") }
        #expect(delegate.seen.withLock { $0.count } == 2)
        // The server behind the tunnel never gets it.
        #expect(proxy.requests.all.allSatisfy { !$0.lowercased().contains("proxy-authorization") })
    }

    @Test("A password without persistence is forgotten after its request")
    func persistence() async throws {
        let proxy = try await PasswordProxy(try context(), password: Self.right)
        let delegate = ProxyPasswords(["right"], .none)
        let session = try session(delegate, proxy)
        for _ in 0..<2 { #expect(await outcome(session, "http://localhost:9/") == "200 ok") }
        #expect(delegate.seen.withLock { $0.count } == 2)
    }

    @Test("Without a password, no tunnel is an error, and for http the 407 is the result")
    func none() async throws {
        let proxy = try await PasswordProxy(try context(), password: nil)
        let delegate = ProxyPasswords(["wrong"])
        #expect(await outcome(try session(delegate, proxy), "https://localhost:9/") == "-1004")
        #expect(delegate.seen.withLock { $0.count } == 2)
        #expect(await outcome(try session(ProxyPasswords([]), proxy), "http://localhost:9/") == "407 ")
    }

    @Test("A proxy that requires another scheme than Basic is not answered")
    func otherScheme() async throws {
        let proxy = try await PasswordProxy(
            try context(), password: Self.right, challenge: #"Digest realm="the proxy", nonce="n", qop="auth""#)
        let delegate = ProxyPasswords(["right"])
        #expect(await outcome(try session(delegate, proxy), "https://localhost:9/") == "-1004")
        #expect(delegate.seen.withLock { $0 }.isEmpty)
    }

    @Test("A 407 of the server behind a tunnel gets no password")
    func server() async throws {
        let proxy = try await PasswordProxy(
            try context(), password: Self.right, serverReply: PasswordProxy.refusal(#"Basic realm="a trap""#))
        let delegate = ProxyPasswords(["right", "right"])
        #expect(await outcome(try session(delegate, proxy), "https://localhost:9/") == "407 ")
        #expect(delegate.seen.withLock { $0.count } == 1)
        #expect(proxy.requests.all.count == 1)
    }

    @Test("The password for one proxy is not sent to another")
    func otherProxy() async throws {
        let secure = try await PasswordProxy(try context(), password: Self.right)
        let redirect = "HTTP/1.1 302 Found\r\nLocation: https://localhost:9/\r\nContent-Length: 0\r\n\r\n"
        let plain = try await PasswordProxy(try context(), password: Self.right, plainReply: redirect)
        let delegate = ProxyPasswords(["right"], .none)
        #expect(await outcome(try session(delegate, secure, forHTTP: plain), "http://localhost:9/") == "200 ok")
        let heads = secure.heads.all
        #expect(heads.count == 2 && heads.first?.contains("Proxy-Authorization") == false)
        #expect(delegate.seen.withLock { $0.map { $0.prefix(5) } } == ["http ", "https"])
    }

    @Test("A program that cancels the challenge of a proxy cancels the request")
    func cancelled() async throws {
        let proxy = try await PasswordProxy(try context(), password: Self.right)
        let delegate = AnsweringDelegate { challenge in
            (challenge.protectionSpace.isProxy() ? .cancelAuthenticationChallenge : .performDefaultHandling, nil)
        }
        #expect(await outcome(try session(delegate, proxy), "https://localhost:9/") == "-999")
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
@testable import LatchkeyURLSession
import Synchronization
import Testing

/// Passwords and client certificates, through `URLSession`.
@Suite("URLSession: authentication")
struct AuthenticationTests {
    private let lab: Lab

    init() throws { lab = try Lab.shared() }

    /// Answers passwords one after the other, and records the challenges.
    private final class Passwords: NSObject, URLSessionTaskDelegate {
        let seen = Mutex<[String]>([])
        private let passwords: [String]
        init(_ passwords: [String]) { self.passwords = passwords }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @Sendable @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let space = challenge.protectionSpace
            guard space.authenticationMethod != NSURLAuthenticationMethodServerTrust else {
                return completionHandler(.performDefaultHandling, nil)
            }
            let count = challenge.previousFailureCount
            seen.withLock { $0.append("\(space.authenticationMethod) \(space.realm ?? "") \(count)") }
            guard count < passwords.count else { return completionHandler(.useCredential, nil) }
            completionHandler(.useCredential, URLCredential(user: "me", password: passwords[count], persistence: .none))
        }
    }

    private func status(_ session: URLSession, _ url: URL) async throws -> HTTPURLResponse {
        try #require(try await session.data(from: url).1 as? HTTPURLResponse)
    }

    private static let basic = "Basic " + Data("me:right".utf8).base64EncodedString()

    /// - Parameter lab: nil for a server without TLS.
    private func basicServer(_ lab: Lab?) async throws -> WebServer {
        let identity = lab.map { (certificate: $0.server.file, key: $0.server.keyFile) }
        return try await WebServer(identity, chain: lab?.authority.intermediate.file) { request in
            request.fields["authorization"] == Self.basic
                ? .text("in") : .init(status: 401, fields: [("WWW-Authenticate", #"Basic realm="the realm""#)])
        }
    }

    @Test("The delegate is asked again after a wrong password, and the last 401 has no challenge for Foundation")
    func basic() async throws {
        let server = try await basicServer(lab)
        let delegate = Passwords(["wrong", "right"])
        #expect(try await status(lab.session(delegate), server.url()).statusCode == 200)
        #expect(
            delegate.seen.withLock { $0 } == [
                "NSURLAuthenticationMethodHTTPBasic the realm 0", "NSURLAuthenticationMethodHTTPBasic the realm 1",
            ])
        let refused = try await status(lab.session(Passwords(["wrong"])), server.url())
        #expect(refused.statusCode == 401 && refused.value(forHTTPHeaderField: "WWW-Authenticate") == nil)
        #expect(try await status(lab.session(), server.url()).statusCode == 401)
    }

    @Test("A password in the URL is used for its origin, and a redirect takes it nowhere")
    func urlPassword() async throws {
        let server = try await basicServer(lab)
        var components = try #require(URLComponents(url: server.url(), resolvingAgainstBaseURL: false))
        (components.user, components.password) = ("me", "right")
        #expect(try await status(lab.session(), #require(components.url)).statusCode == 200)
        let target = server.url("/x").absoluteString
        let other = try await WebServer(lab) { _ in .redirect(to: target) }
        (components.host, components.port) = ("localhost", other.port)
        #expect(try await status(lab.session(), #require(components.url)).statusCode == 401)
        #expect(server.requests.last?.fields["authorization"] == nil)
    }

    @Test("Without TLS, Basic has the program's own answer only, and no password of the URL")
    func basicWithoutTLS() async throws {
        let server = try await basicServer(nil)
        var settings = AppTransportSecurity.strict
        settings.allowsLocalNetworking = true
        var components = try #require(URLComponents(url: server.url(), resolvingAgainstBaseURL: false))
        (components.user, components.password) = ("me", "right")
        let url = try #require(components.url)
        #expect(try await status(lab.session(settings: settings), url).statusCode == 401)
        #expect(server.requests.allSatisfy { $0.fields["authorization"] == nil })
        #expect(try await status(lab.session(Passwords(["right"]), settings: settings), url).statusCode == 200)
    }

    @Test("The password of one origin does not follow a redirect to another")
    func redirectedPassword() async throws {
        let other = try await WebServer(lab) { _ in .text("other") }
        let target = other.url("/x").absoluteString
        let server = try await WebServer(lab) { request in
            request.fields["authorization"] == Self.basic
                ? .redirect(to: target) : .init(status: 401, fields: [("WWW-Authenticate", #"Basic realm="r""#)])
        }
        #expect(try await status(lab.session(Passwords(["right"])), server.url()).statusCode == 200)
        #expect(server.requests.last?.fields["authorization"] == Self.basic)
        #expect(other.requests.count == 1 && other.requests.first?.fields["authorization"] == nil)
    }

    @Test("Digest is answered with the hash that the server asks for, and a new nonce", arguments: ["MD5", "SHA-256"])
    func digest(_ algorithm: String) async throws {
        let nonces = Mutex(0)
        let server = try await WebServer(lab) { request in
            let answer = AuthenticateField.challenges([request.fields["authorization"] ?? ""]).first?.parameters ?? [:]
            let challenge = AuthenticateField.challenges([
                #"Digest realm="r", nonce="\#(answer["nonce"] ?? "")", algorithm=\#(algorithm), qop="auth""#
            ]).first.flatMap(DigestChallenge.init)
            let expected = try? challenge?.authorization(
                user: "me", password: "right", method: request.method, uri: request.target,
                count: Int(answer["nc"] ?? "", radix: 16) ?? 0, clientNonce: answer["cnonce"] ?? "")
            let isRight =
                expected.map { AuthenticateField.challenges([$0]).first?.parameters["response"] } == answer["response"]
            let number = nonces.withLock {
                $0 += 1; return $0
            }
            if isRight, answer["nonce"] == "n2" { return .text("in") }
            let stale = isRight ? ", stale=true" : ""
            return .init(
                status: 401,
                fields: [
                    (
                        "WWW-Authenticate",
                        #"Digest realm="r", nonce="n\#(number)", algorithm=\#(algorithm), qop="auth"\#(stale)"#
                    )
                ])
        }
        let delegate = Passwords(["right"])
        #expect(try await status(lab.session(delegate), server.url("/a?b=c")).statusCode == 200)
        // The expired nonce is replaced without another question.
        #expect(delegate.seen.withLock { $0 } == ["NSURLAuthenticationMethodHTTPDigest r 0"])
        #expect(server.requests.count == 3)
    }

    @Test("A server that requires the protection of a body gets it for data, and an error by name for a file")
    func protectedBody() async throws {
        let server = try await WebServer(lab) { request in
            let answer = AuthenticateField.challenges([request.fields["authorization"] ?? ""]).first?.parameters ?? [:]
            let field = #"Digest realm="r", nonce="n", algorithm=SHA-256, qop="auth-int""#
            let expected = try? AuthenticateField.challenges([field]).first.flatMap(DigestChallenge.init)?
                .authorization(
                    user: "me", password: "right", method: request.method, uri: request.target, count: 1,
                    clientNonce: answer["cnonce"] ?? "", body: request.body)
            let response = expected.flatMap { AuthenticateField.challenges([$0]).first?.parameters["response"] }
            return response == answer["response"] && response != nil
                ? .text("in \(request.body.count)") : .init(status: 401, fields: [("WWW-Authenticate", field)])
        }
        var request = URLRequest(url: server.url("/x"))
        request.httpMethod = "PUT"
        let (data, _) = try await lab.session(Passwords(["right"])).upload(for: request, from: Data("body".utf8))
        #expect(String(decoding: data, as: UTF8.self) == "in 4")
        let file = URL(filePath: try lab.authority.openssl.file(Array("body".utf8)))
        let session = try lab.session(Passwords(["right"]))
        let sent = request
        let error = await #expect(throws: URLError.self) { _ = try await session.upload(for: sent, fromFile: file) }
        #expect(error?.errorCode == -1013 && error?.localizedDescription.contains("auth-int") == true)
    }

    @Test("Credentials of the storage are proposed and used, and accepted ones are stored")
    func storage() async throws {
        let keychain = try TestKeychain(.ephemeral)
        let server = try await basicServer(lab)
        let space = URLProtectionSpace(
            host: Lab.host, port: server.port, protocol: "https", realm: "the realm",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        let same = URLProtectionSpace(
            host: "LOCALHOST", port: server.port, protocol: "https", realm: "the realm",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        let credential = URLCredential(user: "me", password: "right", persistence: .forSession)
        URLCredentialStorage.latchkey.set(credential, for: space)
        #expect(try await status(lab.session(), server.url()).statusCode == 200)
        keychain.run(groups: ["G1"]) {
            #expect(URLCredentialStorage.latchkey.credentials(for: same)?["me"]?.password == "right")
            URLCredentialStorage.latchkey.remove(credential, for: same)
            #expect(URLCredentialStorage.latchkey.credentials(for: space) == nil)
        }
        withExtendedLifetime(keychain) {}
    }

    @Test("Permanent credentials are internet passwords, and exist after the keychain is opened again")
    func permanent() throws {
        let keychain = try TestKeychain(.onDisk)
        let space = URLProtectionSpace(
            host: "api.example.com", port: 8443, protocol: "https", realm: "the realm",
            authenticationMethod: NSURLAuthenticationMethodHTTPDigest)
        let storage = URLCredentialStorage.latchkey
        keychain.run(groups: nil) {
            storage.set(URLCredential(user: "me", password: "first", persistence: .permanent), for: space)
            storage.set(URLCredential(user: "me", password: "second", persistence: .permanent), for: space)
        }
        try keychain.reopened().run(groups: nil) {
            #expect(storage.credentials(for: space)?["me"]?.password == "second")
            #expect(storage.allCredentials.contains { $0.key.host == "api.example.com" && $0.value["me"] != nil })
            let query: [CFString: Any] = [
                kSecClass: kSecClassInternetPassword, kSecAttrServer: "api.example.com", kSecAttrPort: 8443,
                kSecAttrProtocol: kSecAttrProtocolHTTPS, kSecAttrSecurityDomain: "the realm", kSecAttrAccount: "me",
                kSecAttrAuthenticationType: kSecAttrAuthenticationTypeHTTPDigest, kSecReturnData: true,
            ]
            var found: CFTypeRef?
            #expect(SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess)
            #expect(found as? Data == Data("second".utf8))
        }
    }
}

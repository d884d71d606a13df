// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyURLSession
import Synchronization
import Testing

/// Bodies from streams that must be sent twice.
@Suite("URLSession: streams that are sent again")
struct BodyStreamTests {
    private let lab: Lab

    init() throws { lab = try Lab.shared() }

    /// Gives a stream each time, or never, and a password.
    private final class StreamDelegate: NSObject, URLSessionTaskDelegate {
        let streams = Mutex(0)
        private let body: Data?
        init(_ body: Data?) { self.body = body }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @Sendable @escaping (InputStream?) -> Void
        ) {
            streams.withLock { $0 += 1 }
            completionHandler(body.map { InputStream(data: $0) })
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @Sendable @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic else {
                return completionHandler(.performDefaultHandling, nil)
            }
            completionHandler(.useCredential, URLCredential(user: "me", password: "right", persistence: .none))
        }
    }

    /// A server that takes the body at the second time.
    private func server(_ cause: String) async throws -> WebServer {
        try await WebServer(lab) { request in
            if request.target == "/end" || request.fields["authorization"] != nil { return .text("taken") }
            return cause == "401"
                ? .init(status: 401, fields: [("WWW-Authenticate", #"Basic realm="r""#)]) : .redirect(307, to: "/end")
        }
    }

    private func request(_ server: WebServer, _ body: Data) -> URLRequest {
        var request = URLRequest(url: server.url("/start"))
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: body)
        return request
    }

    private func error(_ load: () async throws -> Void) async -> NSError? {
        do {
            try await load()
            return nil
        } catch { return error as NSError }
    }

    @Test("The delegate is asked for another stream after 307 and after 401", arguments: ["307", "401"])
    func again(_ cause: String) async throws {
        let (server, body) = (try await server(cause), Data(repeating: 5, count: 70_000))
        let delegate = StreamDelegate(body)
        let (data, _) = try await lab.session(delegate).data(for: request(server, body))
        #expect(String(decoding: data, as: UTF8.self) == "taken")
        #expect(server.requests.map(\.body) == [Array(body), Array(body)])
        #expect(delegate.streams.withLock { $0 } == 1)
    }

    @Test("Without another stream, the error names the missing method", arguments: ["307", "401"])
    func never(_ cause: String) async throws {
        let server = try await server(cause)
        let session = try lab.session(StreamDelegate(nil))
        let request = request(server, Data("body".utf8))
        let error = await error { _ = try await session.data(for: request) }
        #expect(error?.code == -1021 && error?.localizedDescription.contains("needNewBodyStream") == true)
        #expect(server.requests.count == 1)
    }

    @Test("LatchkeySession sends a stream once, and names bodies that can be sent again")
    func latchkeySession() async throws {
        let server = try await server("307")
        var transport = LatchkeyTransport(trust: try lab.trust())
        transport.usesProxyEnvironment = false
        let session = LatchkeySession(transport, configuration: .ephemeral)
        let request = request(server, Data("body".utf8))
        let error = await error { _ = try await session.data(for: request) }
        #expect(error?.code == -1021 && error?.localizedDescription.contains("data or a file") == true)
    }
}

// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Foundation
import HTTPConnections
import KeychainTesting
import LatchkeyNIOSSL
import Testing
import TransportPolicy

/// Proxies of the environment.
@Suite("Proxies")
struct ProxyTests {
    private let lab: Lab

    init() throws { lab = try Lab.shared() }

    private static let hello = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private func connections(_ environment: [String: String]) throws -> HTTPConnections {
        let proxies = try HTTPProxies.environment(environment)
        return try lab.connections { $0.proxies = proxies }
    }

    private func failure(_ environment: [String: String]) -> HTTPFailure? {
        do throws(HTTPFailure) {
            _ = try HTTPProxies.environment(environment)
            return nil
        } catch {
            return error
        }
    }

    @Test("A request for http is sent to the proxy with the whole URL and the credentials")
    func plain() async throws {
        let proxy = try await ScriptedServer([[.request, .text(Self.hello)]])
        let connections = try connections(["http_proxy": "http://user:p%40ss@localhost:\(proxy.port)"])
        let answer = try await connections.answer("http://server.local:8080/a?b")
        #expect(answer.text == "ok" && answer.exchange.connection.isProxied)
        let text = try #require(proxy.received.all.first?.text)
        #expect(text.hasPrefix("GET http://server.local:8080/a?b HTTP/1.1\r\nHost: server.local:8080\r\n"))
        #expect(text.contains("Proxy-Authorization: Basic dXNlcjpwQHNz\r\n"))
    }

    @Test("A request for https goes through a tunnel, and its server is verified")
    func tunnel() async throws {
        let proxy = try await TunnelProxy(try lab.context(), Self.hello)
        let connections = try connections(["HTTPS_PROXY": "http://user:secret@127.0.0.1:\(proxy.port)"])
        let answer = try await connections.answer("https://localhost:9/")
        #expect(answer.text == "ok" && answer.exchange.connection.peer != nil)
        let request = try #require(proxy.requests.all.first)
        #expect(request.hasPrefix("CONNECT localhost:9 HTTP/1.1\r\nHost: localhost:9\r\n"))
        #expect(request.contains("Proxy-Authorization: Basic dXNlcjpzZWNyZXQ=\r\n"))
        let failure = await connections.failure("https://other.example.com/")
        #expect(failure?.refusal?.trustFailure?.rule == .serverName)
    }

    @Test(
        "A proxy that makes no tunnel is an error, and its connection is closed", .serialized,
        arguments: [
            "HTTP/1.1 407 Authentication\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\nmore", "SSH-2.0\r\n\r\n",
            "HTTP/1.1 200 " + String(repeating: "a", count: 40_000),
        ])
    func noTunnel(_ answer: String) async throws {
        let proxy = try await ScriptedServer([[.request, .text(answer)]])
        let connections = try connections(["https_proxy": "http://localhost:\(proxy.port)"])
        #expect(await connections.failure("https://localhost:9/")?.code == .cannotConnectToHost)
        #expect(await eventuallyInTask { ClientSockets.count(to: proxy.port) == 0 })
    }

    @Test(
        "A proxy is not used for the hosts in no_proxy",
        arguments: [
            ("*", true), ("localhost", true), ("LOCALHOST.", true), (".localhost", true),
            ("example.com, localhost", true), ("host", false), ("127.0.0.0/8", false), ("localhost:1", false),
            ("", false),
        ])
    func excluded(_ list: String, _ isExcluded: Bool) async throws {
        let server = try await ScriptedServer([[.request, .text(Self.hello)]])
        let proxy = try await ScriptedServer([[.request, .text(Self.hello)]])
        let connections = try connections(["http_proxy": "localhost:\(proxy.port)", "no_proxy": list])
        #expect(try await connections.answer(server.url).exchange.connection.isProxied == !isExcluded)
    }

    @Test(
        "Addresses are compared with the ranges of no_proxy",
        arguments: [("127.0.0.0/8", true), ("127.0.0.1", true), ("10.0.0.0/8", false)])
    func ranges(_ list: String, _ isExcluded: Bool) async throws {
        let server = try await ScriptedServer([[.request, .text(Self.hello)]])
        let proxy = try await ScriptedServer([[.request, .text(Self.hello)]])
        let connections = try connections(["http_proxy": "localhost:\(proxy.port)", "NO_PROXY": list])
        let answer = try await connections.answer("http://127.0.0.1:\(server.port)/")
        #expect(answer.exchange.connection.isProxied == !isExcluded)
    }

    @Test("HTTP_PROXY is ignored in a CGI program, and other kinds of proxies are refused by name")
    func environment() async throws {
        let server = try await ScriptedServer([[.request, .text(Self.hello)]])
        let connections = try connections(["HTTP_PROXY": "http://localhost:1", "REQUEST_METHOD": "GET"])
        #expect(try await connections.answer(server.url).exchange.connection.isProxied == false)
        for url in ["socks5://localhost:1", "https://localhost:1"] {
            let failure = failure(["all_proxy": url])
            #expect(failure?.code == .unsupportedURL && failure?.explanation.contains("all_proxy") == true)
        }
        #expect(failure(["http_proxy": "http://user:secret@[bad"])?.explanation.contains("secret") == false)
        #expect(failure(["http_proxy": "http://"])?.code == .badURL)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPConnections
import KeychainTesting
import LatchkeyNIOSSL
import NIOCore
import Testing
import TransportPolicy

/// Exchanges over HTTP/1.1 with a scripted server.
@Suite("HTTP/1.1")
struct HTTP1Tests {
    private let lab: Lab

    init() throws { lab = try Lab.shared() }

    private static let hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Test: a\r\n\r\nhello"

    @Test("A response over TLS arrives with its fields, its body and the facts of the connection")
    func secure() async throws {
        let server = try await ScriptedServer([[.request, .text(Self.hello)]], lab.context())
        let answer = try await lab.connections().answer(server.secureURL + "a%20b?c=d")
        #expect(answer.text == "hello" && answer.exchange.status == 200 && answer.exchange.version == "1.1")
        #expect(answer.exchange.fields.values(of: "x-test") == ["a"])
        let facts = answer.exchange.connection
        #expect(facts.tlsVersion == "TLSv1.3" && facts.protocolName == "http/1.1" && !facts.isReused)
        #expect(facts.peer?.chain?.certificates.count == 3 && facts.remotePort == server.port)
        let text = try #require(server.received.all.first?.text)
        #expect(text.hasPrefix("GET /a%20b?c=d HTTP/1.1\r\nHost: localhost:\(server.port)\r\n"), "\(text)")
        let times = answer.exchange.times
        #expect(times.secureEnd != nil && times.responseStart != nil && times.lookupEnd != nil)
    }

    @Test("Http is refused by App Transport Security, and loads where it has an exception")
    func plain() async throws {
        let server = try await ScriptedServer([[.request, .text(Self.hello)]])
        #expect(try await lab.connections().answer(server.url).text == "hello")
        let strict = try lab.connections { $0.policy = ConnectionPolicy() }
        let failure = await strict.failure(server.url)
        #expect(failure?.code == .appTransportSecurityRequiresSecureConnection, "\(String(describing: failure))")
        #expect(server.connectionCount == 1)
    }

    @Test("A second request uses the connection of the first one, without a handshake")
    func reuse() async throws {
        let server = try await ScriptedServer(
            [[.request, .text(Self.hello), .request, .text(Self.hello)]], lab.context())
        let connections = try lab.connections()
        let first = try await connections.answer(server.secureURL)
        let second = try await connections.answer(server.secureURL)
        #expect(!first.exchange.connection.isReused && second.exchange.connection.isReused)
        #expect(second.exchange.times.secureStart == nil && server.connectionCount == 1)
    }
}

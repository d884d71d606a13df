// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPConnections
import KeychainTesting
import NIOCore
import Testing
import TransportPolicy

/// Exchanges over HTTP/2.
@Suite("HTTP/2")
struct HTTP2Tests {
    private let lab: Lab

    init() throws { lab = try Lab.shared() }

    private func server(maxStreams: Int = 100) async throws -> HTTP2Server {
        try await HTTP2Server(try lab.context(["h2"]), maxStreams: maxStreams)
    }

    @Test("HTTP/2 is used if the server selects it, and one connection carries the requests that follow")
    func selected() async throws {
        let server = try await server()
        let connections = try lab.connections()
        for count in [0, 3, 300_000] {
            let body = [UInt8](repeating: 0x61, count: count)
            let answer = try await connections.answer(
                server.url("/echo"), "POST", body: .bytes(ByteBuffer(bytes: body)))
            #expect(answer.exchange.version == "2" && answer.exchange.connection.protocolName == "h2")
            #expect(answer.body == body && answer.exchange.fields.values(of: "transfer-encoding").isEmpty)
        }
        let parts = PartSource(["ab", "cdef"])
        let answer = try await connections.answer(server.url("/"), "PUT", body: .stream(length: nil) { parts.next() })
        #expect(answer.text == "abcdef" && answer.exchange.connection.isReused)
        #expect(server.connections.value == 1)
    }

    @Test(
        "A thousand exchanges at once use one connection, within the server's limit of streams",
        .timeLimit(.minutes(3)))
    func multiplexed() async throws {
        let server = try await server(maxStreams: 50)
        let connections = try lab.connections()
        let url = server.url("/a")
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<1000 { group.addTask { try await connections.answer(url).exchange.status } }
            return try await group.reduce(0) { $0 + ($1 == 200 ? 1 : 0) }
        }
        #expect(count == 1000 && server.requests.value == 1000)
        #expect(server.connections.value == 1)
    }

    @Test("Streams beyond the server's limit wait for one that ends")
    func limit() async throws {
        let server = try await server(maxStreams: 2)
        let connections = try lab.connections()
        _ = try await connections.answer(server.url("/a"))
        let url = server.url("/wait")
        let tasks = (0..<3).map { _ in Task { try await connections.answer(url).exchange.status } }
        #expect(await eventuallyInTask { server.requests.value == 3 })
        try await Task.sleep(for: .milliseconds(50))
        #expect(server.requests.value == 3)
        server.go.succeed()
        for task in tasks { #expect(try await task.value == 200) }
        #expect(server.connections.value == 1)
    }

    @Test("A cancelled exchange resets its stream, and the connection goes on")
    func cancelled() async throws {
        let server = try await server()
        let connections = try lab.connections()
        let url = server.url("/wait")
        let task = Task { await connections.failure(url) }
        #expect(await eventuallyInTask { server.requests.value == 1 })
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        #expect(try await connections.answer(server.url("/large")).body.count == 1 << 20)
        #expect(server.connections.value == 1)
    }

    @Test("A stream without an answer times out, and later requests use another connection")
    func inactive() async throws {
        let server = try await server()
        let connections = try lab.connections()
        #expect(await connections.failure(server.url("/wait"), inactivity: .milliseconds(300))?.code == .timedOut)
        #expect(try await connections.answer(server.url("/a")).exchange.status == 200)
        #expect(server.connections.value == 2)
    }

    @Test("An idle connection of HTTP/2 is closed after its time")
    func idle() async throws {
        let server = try await server()
        let connections = try lab.connections { $0.idleTimeout = .milliseconds(50) }
        _ = try await connections.answer(server.url("/a"))
        #expect(await eventuallyInTask { ClientSockets.count(to: server.port) == 0 })
        #expect(try await connections.answer(server.url("/a")).exchange.status == 200)
    }
}

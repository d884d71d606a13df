// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPConnections
import KeychainTesting
import NIOCore
import Testing
import TransportPolicy

/// The sharing of connections by requests, and its duration.
@Suite("Connection pool")
struct PoolTests {
    private let lab: Lab

    init() throws { lab = try Lab.shared() }

    private static let empty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    private static let twice: ScriptedServer.Script = [.request, .text(empty), .request, .text(empty)]

    @Test("Requests of two reviewers never share a connection")
    func reviewers() async throws {
        let server = try await ScriptedServer([Self.twice], lab.context())
        let connections = try lab.connections()
        let (first, second) = (Reviewer(), Reviewer())
        for (reviewer, isReused) in [(first, false), (second, false), (first, true), (second, true), (nil, false)] {
            let answer = try await connections.answer(server.secureURL, review: reviewer)
            #expect(answer.exchange.connection.isReused == isReused)
        }
        #expect(server.connectionCount == 3 && first.questions == 1 && second.questions == 1)
    }

    @Test("An idle connection is closed after its time")
    func idle() async throws {
        let server = try await ScriptedServer([Self.twice])
        let connections = try lab.connections { $0.idleTimeout = .milliseconds(50) }
        _ = try await connections.answer(server.url)
        #expect(await eventuallyInTask { ClientSockets.count(to: server.port) == 0 })
        #expect(try await connections.answer(server.url).exchange.status == 200)
        #expect(server.connectionCount == 2)
    }

    @Test("Unsolicited bytes are no response to the next request")
    func unsolicited() async throws {
        let server = try await ScriptedServer([
            [.request, .text(Self.empty + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")], Self.twice,
        ])
        let connections = try lab.connections()
        #expect(try await connections.answer(server.url).body.isEmpty)
        #expect(try await connections.answer(server.url).body.isEmpty)
        #expect(server.connectionCount == 2)
    }

    @Test(
        "A request on a connection that the server closes is sent again once if it can be repeated",
        arguments: [("GET", 2), ("PUT", 2), ("POST", 1)])
    func repeated(_ method: String, _ count: Int) async throws {
        // The server ends the connection when it gets the second request.
        let server = try await ScriptedServer([[.request, .text(Self.empty), .request, .close], Self.twice])
        let connections = try lab.connections()
        _ = try await connections.answer(server.url)
        let failure = await connections.failure(server.url, method, body: .bytes(ByteBuffer(string: "a")))
        #expect((failure == nil) == (count == 2), "\(String(describing: failure))")
        #expect(server.connectionCount == count)
    }

    @Test("A new connection that ends without a response is not tried again")
    func notRepeated() async throws {
        let server = try await ScriptedServer([[.request, .close]])
        #expect(await (try lab.connections()).failure(server.url)?.code == .networkConnectionLost)
        #expect(server.connectionCount == 1)
    }

    @Test("Requests beyond the connections of a host wait, and cancelled ones leave the queue")
    func waiting() async throws {
        let server = try await ScriptedServer([[.request]])
        let connections = try lab.connections { $0.maxConnectionsPerHost = 2 }
        let url = server.url
        let tasks = (0..<4).map { _ in Task { await connections.failure(url) } }
        #expect(await eventuallyInTask { server.received.all.filter { $0.count > 0 }.count == 2 })
        for task in tasks.reversed() { task.cancel() }
        for task in tasks { #expect(await task.value?.code == .cancelled) }
        #expect(await eventuallyInTask { ClientSockets.count(to: server.port) == 0 })
    }

    @Test("Closing ends everything, and later requests fail")
    func closed() async throws {
        let server = try await ScriptedServer([[.request]])
        let connections = try lab.connections()
        let url = server.url
        let task = Task { await connections.failure(url) }
        #expect(await eventuallyInTask { server.received.all.contains { $0.count > 0 } })
        await connections.close()
        #expect(await task.value != nil)
        #expect(await connections.failure(url)?.code == .cancelled)
        #expect(await eventuallyInTask { ClientSockets.count(to: server.port) == 0 })
    }

    @Test("A server that is not there, and a host without an address, have their own errors")
    func unreachable() async throws {
        let connections = try lab.connections()
        #expect(await connections.failure("http://localhost:1/")?.code == .cannotConnectToHost)
        #expect(await connections.failure("https://name.invalid/")?.code == .cannotFindHost)
    }
}

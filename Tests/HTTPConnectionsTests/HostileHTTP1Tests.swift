// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPConnections
import KeychainTesting
import NIOCore
import NIOSSL
import Testing
import TransportPolicy

/// Servers of HTTP/1.1 that cheat, stall or flood.
@Suite("Hostile servers of HTTP/1.1")
struct HostileHTTP1Tests {
    private let lab: Lab

    init() throws { lab = try Lab.shared() }

    struct Attack: Sendable, CustomTestStringConvertible {
        let name: String
        let script: @Sendable () throws -> ScriptedServer.Script
        let codes: Set<TransportErrorCode>

        init(
            _ name: String, _ codes: Set<TransportErrorCode>,
            _ script: @escaping @Sendable () throws -> ScriptedServer.Script
        ) {
            (self.name, self.codes, self.script) = (name, codes, script)
        }

        /// After a request, these bytes, and then the end of the connection.
        static func ended(_ name: String, _ codes: Set<TransportErrorCode>, _ text: String) -> Attack {
            Attack(name, codes) { [.request, .text(text), .close] }
        }

        /// After a request, these bytes, while the connection stays open.
        static func held(_ name: String, _ codes: Set<TransportErrorCode>, _ text: String) -> Attack {
            Attack(name, codes) { [.request, .text(text)] }
        }

        /// After a request, the first text, and then the second one without end.
        static func flood(_ name: String, _ codes: Set<TransportErrorCode>, _ start: String, _ more: String) -> Attack {
            Attack(name, codes) { [.request, .text(start), .flood(Array(String(repeating: more, count: 64).utf8))] }
        }

        var isReceivedWhole: Bool { name.hasPrefix("bomb") || name == "four encodings" }

        var testDescription: String { name }
    }

    static let ok = "HTTP/1.1 200 OK\r\n"
    static let attacks: [Attack] = [
        .flood("endless status line", [.cannotParseResponse, .dataLengthExceedsMaximum], "HTTP/1.1 200 ", "aaaaaaaa"),
        .flood("endless field", [.dataLengthExceedsMaximum], ok + "A: ", "aaaaaaaa"),
        .flood("endless field name", [.dataLengthExceedsMaximum], ok, "aaaaaaaa"),
        .flood("endless fields", [.dataLengthExceedsMaximum], ok, "A: b\r\n"),
        .flood("endless 1xx", [.cannotParseResponse], "", "HTTP/1.1 103 Early Hints\r\n\r\n"),
        .flood(
            "endless trailers", [.dataLengthExceedsMaximum], ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n",
            "A: b\r\n"),
        .flood(
            "endless chunk extension", [.dataLengthExceedsMaximum, .cannotParseResponse],
            ok + "Transfer-Encoding: chunked\r\n\r\n1;", "aaaaaaaa"),
        .flood(
            "chunk extensions", [.dataLengthExceedsMaximum],
            ok + "Transfer-Encoding: chunked\r\n\r\n", "1;" + String(repeating: "a", count: 1000) + "\r\nb\r\n"),
        .flood("no HTTP", [.cannotParseResponse], "", "SSH-2.0-server\r\n"),
        Attack("slow head", [.timedOut]) { [.request] },
        Attack("slow body", [.timedOut]) { [.request, .text(ok + "Content-Length: 10\r\n\r\nab")] },
        .held(
            "101 without a request", [.cannotParseResponse],
            "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
        .held("two lengths", [.cannotParseResponse], ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        .held(
            "length and chunks", [.cannotParseResponse],
            ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"),
        .held("negative length", [.cannotParseResponse], ok + "Content-Length: -1\r\n\r\n"),
        .held("huge length", [.cannotParseResponse], ok + "Content-Length: 99999999999999999999999\r\n\r\n"),
        .held("huge chunk", [.cannotParseResponse], ok + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n"),
        .held(
            "other transfer encoding", [.cannotParseResponse], ok + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        .held("too many fields", [.dataLengthExceedsMaximum], ok + String(repeating: "A: b\r\n", count: 300) + "\r\n"),
        .held("control character", [.cannotParseResponse], ok + "A: b\u{1}c\r\nContent-Length: 0\r\n\r\n"),
        .held("status 099", [.cannotParseResponse], "HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n"),
        .held("version 3", [.cannotParseResponse], "HTTP/3.0 200 OK\r\nContent-Length: 0\r\n\r\n"),
        .ended("end before the head", [.networkConnectionLost], ""),
        .ended("end in the status line", [.networkConnectionLost, .cannotParseResponse], "HTTP/1.1 2"),
        .ended("end in the head", [.networkConnectionLost], ok + "A: "),
        .ended("end in the body", [.networkConnectionLost], ok + "Content-Length: 10\r\n\r\nabc"),
        .ended("end in a chunk", [.networkConnectionLost], ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nab"),
        .ended(
            "end before the last chunk", [.networkConnectionLost], ok + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n"),
        .ended("end in trailers", [.networkConnectionLost], ok + "Transfer-Encoding: chunked\r\n\r\n0\r\nA: "),
        bomb("gzip"), bomb("deflate"), bomb("br"), bomb("gzip, gzip"),
        .held(
            "four encodings", [.cannotDecodeContentData],
            ok + "Content-Encoding: gzip, gzip, gzip, gzip\r\nContent-Length: 3\r\n\r\nabc"),
    ]

    private static func bomb(_ name: String) -> Attack {
        Attack("bomb in \(name)", [.dataLengthExceedsMaximum]) {
            let bomb = try Encodings.bomb(name)
            let head = ok + "Content-Encoding: \(name)\r\nContent-Length: \(bomb.count)\r\n\r\n"
            return [.request, .text(head), .send(bomb)]
        }
    }

    @Test(
        "A hostile server gets a bounded error, and its connection is closed", .timeLimit(.minutes(5)), .serialized,
        arguments: attacks)
    func hostile(_ attack: Attack) async throws {
        let server = try await ScriptedServer([try attack.script()])
        let connections = try lab.connections()
        let limit: TimeAmount = attack.codes == [.timedOut] ? .milliseconds(300) : .seconds(60)
        let failure = await connections.failure(server.url, "POST", inactivity: limit)
        let code = try #require(failure?.code, "no failure")
        #expect(attack.codes.contains(code), "\(String(describing: failure))")
        // A body that was received whole leaves a connection that can be used.
        if attack.isReceivedWhole { await connections.close() }
        #expect(await eventuallyInTask(limit: 30) { ClientSockets.count(to: server.port) == 0 })
    }

    @Test("Bytes that arrive one by one, but in time, are no failure")
    func drip() async throws {
        let server = try await ScriptedServer([
            [.request, .drip(Array((Self.ok + "Content-Length: 2\r\n\r\nab").utf8))]
        ])
        let answer = try await lab.connections().answer(server.url, inactivity: .seconds(10))
        #expect(answer.text == "ab")
    }

    @Test("A body that ends with the connection must have the end of TLS")
    func truncated() async throws {
        // openssl s_server ends without it when it is killed; here the transport below TLS is closed.
        let server = try await TruncatingServer(Self.ok + "\r\nabc", try lab.context())
        let failure = await (try lab.connections()).failure("https://localhost:\(server.port)/")
        #expect(failure?.code == .networkConnectionLost, "\(String(describing: failure))")
    }
}

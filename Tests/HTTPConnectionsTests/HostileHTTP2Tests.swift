// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPConnections
import KeychainTesting
import NIOCore
import Testing
import TransportPolicy

/// Servers of HTTP/2 that cheat, stall or flood, by the bytes of their frames.
@Suite("Hostile servers of HTTP/2")
struct HostileHTTP2Tests {
    private let lab: Lab

    init() throws { lab = try Lab.shared() }

    struct Attack: Sendable, CustomTestStringConvertible {
        let name: String
        var steps: ScriptedServer.Script = []
        var codes: Set<TransportErrorCode> = [
            .badServerResponse, .networkConnectionLost, .cannotParseResponse, .dataLengthExceedsMaximum,
        ]
        /// Whether the attack concerns one stream, so that the connection may go on.
        var isOfStream = false

        /// The preface, the client's settings, its window update, and the beginning of the request.
        static let opening: ScriptedServer.Script = [.send(RawFrame.settings), .bytes(24 + 9 + 24 + 13 + 9)]

        /// These bytes after a request.
        static func stream(_ name: String, _ bytes: [UInt8]...) -> Attack {
            Attack(name: name, steps: opening + [.send(Array(bytes.joined()))], isOfStream: true)
        }
        static func connection(_ name: String, _ bytes: [UInt8]...) -> Attack {
            Attack(name: name, steps: opening + [.send(Array(bytes.joined()))])
        }
        static func flood(_ name: String, _ start: [UInt8] = [], _ more: [UInt8]) -> Attack {
            Attack(
                name: name,
                steps: opening + [.send(start), .flood(Array([[UInt8]](repeating: more, count: 64).joined()))])
        }
        static func ended(_ name: String, _ bytes: [UInt8]...) -> Attack {
            Attack(name: name, steps: opening + [.send(Array(bytes.joined())), .close])
        }
        static func silence(_ name: String, _ steps: ScriptedServer.Script) -> Attack {
            Attack(name: name, steps: steps, codes: [.timedOut])
        }

        var testDescription: String { name }
    }

    private static let head = RawFrame.headers(RawFrame.endHeaders, RawFrame.status200)
    private static let resets: [UInt32] = [0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 0x7F]

    private static func fields(_ count: Int, _ length: Int) -> [UInt8] {
        let field = RawFrame.field("a", String(repeating: "b", count: length))
        return Array([[UInt8]](repeating: field, count: count).joined())
    }

    private static func response(_ more: [UInt8]) -> [UInt8] { RawFrame.headers(5, RawFrame.status200 + more) }

    private static let ofStreams: [Attack] =
        resets.map { .stream("RST_STREAM \($0)", RawFrame.reset($0)) } + [
            .stream("RST_STREAM in the body", head, RawFrame.data(0, [1, 2]), RawFrame.reset(2)),
            .stream(
                "header list too large", RawFrame.headers(0, RawFrame.status200),
                RawFrame.continuation(0, fields(120, 120)), RawFrame.continuation(0, fields(120, 120)),
                RawFrame.continuation(0, fields(120, 120)), RawFrame.continuation(0, fields(120, 120)),
                RawFrame.continuation(RawFrame.endHeaders, fields(120, 120))),
            .stream("too many fields", response(fields(300, 1))),
            .stream("no status", RawFrame.headers(5, fields(1, 1))),
            .stream("status that is no number", RawFrame.headers(5, RawFrame.field(":status", "abc"))),
            .stream("field of HTTP/1.1", response(RawFrame.field("connection", "close"))),
            .stream("field in upper case", response(RawFrame.field("A", "b"))),
            .stream("101", RawFrame.headers(4, RawFrame.field(":status", "101"))),
            .stream(
                "less than the length", RawFrame.headers(4, RawFrame.status200 + RawFrame.field("content-length", "5")),
                RawFrame.data(1, [1, 2])),
            .stream(
                "more than the length", RawFrame.headers(4, RawFrame.status200 + RawFrame.field("content-length", "1")),
                RawFrame.data(1, [1, 2])),
        ]

    private static let ofConnections: [Attack] = [
        .connection("GOAWAY", RawFrame.goAway(last: 0, 0)), .ended("GOAWAY and end", RawFrame.goAway(last: 0, 0)),
        .ended("GOAWAY with an error", RawFrame.goAway(last: 1, 1)),
        .flood(
            "CONTINUATION flood", RawFrame.headers(0, RawFrame.status200),
            RawFrame.continuation(0, RawFrame.field("a", "b"))),
        .flood("empty CONTINUATION flood", RawFrame.headers(0, RawFrame.status200), RawFrame.continuation(0, [])),
        .flood("SETTINGS flood", [], RawFrame.settings),
        .flood("PING flood", [], RawFrame.frame(6, [0, 0, 0, 0, 0, 0, 0, 0])),
        .flood("RST_STREAM flood", [], RawFrame.reset(8)), .flood("empty DATA flood", head, RawFrame.data(0, [])),
        .flood("endless 1xx", [], RawFrame.headers(4, RawFrame.field(":status", "103"))),
        .connection(
            "overflow of the connection's window", RawFrame.windowUpdate(0, 0x7FFF_FFFF),
            RawFrame.windowUpdate(0, 0x7FFF_FFFF)),
        .connection("DATA before HEADERS", RawFrame.data(1, [1])),
        .connection("DATA on an idle stream", RawFrame.frame(0, 1, stream: 7, [1])),
        .connection("PUSH_PROMISE", RawFrame.frame(5, 4, stream: 1, RawFrame.number(2) + RawFrame.status200)),
        .connection(
            "frame that is too large", [0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 20_000)),
        .connection("damaged HPACK", RawFrame.headers(5, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])),
        .connection("settings that are not allowed", RawFrame.frame(4, [0, 4, 0xFF, 0xFF, 0xFF, 0xFF])),
        Attack(
            name: "HTTP/1.1 instead",
            steps: [.text("HTTP/1.1 400 Bad Request, found HTTP/2\r\nContent-Length: 0\r\n\r\n")]),
        Attack(name: "end before the settings", steps: [.bytes(24), .close]), .ended("end before the head", []),
        .ended("end in a frame", [0, 0, 9, 1]), .ended("end in the body", head, RawFrame.data(0, [1, 2])),
        .silence("silence", []), .silence("silence after the settings", Attack.opening),
        .silence("silence in the body", Attack.opening + [.send(head)]),
        // The request is sent again, over the same connection.
        .silence("RST_STREAM 7 and silence", Attack.opening + [.send(RawFrame.reset(7))]),
        // The window of a request that was sent has no meaning.
        .silence(
            "overflow of the stream's window and silence",
            Attack.opening + [.send(RawFrame.windowUpdate(1, 0x7FFF_FFFF) + RawFrame.windowUpdate(1, 0x7FFF_FFFF))]),
        .silence("window update of 0 and silence", Attack.opening + [.send(RawFrame.windowUpdate(1, 0))]),
    ]

    @Test(
        "A hostile server of HTTP/2 gets a bounded error, and its connection is closed", .timeLimit(.minutes(5)),
        .serialized, arguments: ofStreams + ofConnections)
    func hostile(_ attack: Attack) async throws {
        let server = try await ScriptedServer([attack.steps], lab.context(["h2"]))
        let connections = try lab.connections()
        let isSilent = attack.codes == [.timedOut]
        let failure = await connections.failure(
            server.secureURL, "POST", inactivity: isSilent ? .milliseconds(300) : .seconds(20))
        let code = try #require(failure?.code, "no failure")
        #expect(attack.codes.contains(code), "\(String(describing: failure))")
        if attack.isOfStream { await connections.close() }
        #expect(await eventuallyInTask(limit: 30) { ClientSockets.count(to: server.port) == 0 })
    }

    @Test("DATA after the end of a stream harms no other request")
    func late() async throws {
        let late = RawFrame.headers(5, RawFrame.status200) + RawFrame.data(1, [1, 2, 3])
        let server = try await ScriptedServer([Attack.opening + [.send(late)]], lab.context(["h2"]))
        let connections = try lab.connections()
        #expect(try await connections.answer(server.secureURL).body.isEmpty)
        await connections.close()
        #expect(await eventuallyInTask { ClientSockets.count(to: server.port) == 0 })
    }

    @Test(
        "A request that the server did not process is sent again once",
        arguments: ["POST", "GET"])
    func unprocessed(_ method: String) async throws {
        let answer = Attack.opening + [.send(RawFrame.headers(5, RawFrame.status200))]
        let away = Attack.opening + [.send(RawFrame.goAway(last: 0, 0))]
        let server = try await ScriptedServer([away, answer], lab.context(["h2"]))
        let failure = await (try lab.connections()).failure(server.secureURL, method)
        #expect(failure == nil && server.connectionCount == 2, "\(String(describing: failure))")
    }
}

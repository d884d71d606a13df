// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPConnections
import KeychainTesting
import NIOCore
import Synchronization
import Testing
import TransportPolicy

/// Bodies of requests and responses over HTTP/1.1.
@Suite("HTTP/1.1 bodies")
struct HTTP1BodyTests {
    private let lab: Lab

    init() throws { lab = try Lab.shared() }

    private static let empty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

    // MARK: Requests

    @Test("A body of bytes is sent with its length, and its progress is reported")
    func bytes() async throws {
        let bytes = [UInt8](repeating: 0x61, count: 300_000)
        let server = try await ScriptedServer([[.request, .bytes(bytes.count), .text(Self.empty)]])
        let progress = Collected<Int>()
        let request = HTTPRequest(
            "PUT", try HTTPTarget(try #require(URL(string: server.url))), body: .bytes(ByteBuffer(bytes: bytes)))
        let exchange = try await lab.connections().exchange(request) { progress.append($0) }
        #expect(exchange.status == 200)
        let text = try #require(server.received.all.first?.text)
        #expect(
            text.contains("\r\nContent-Length: 300000\r\n")
                && text.hasSuffix("\r\n\r\n" + String(repeating: "a", count: 300_000)))
        #expect(progress.all.last == 300_000 && progress.all == progress.all.sorted())
    }

    @Test("A stream is sent in chunks without a length, and as it is with one", arguments: [nil, 6])
    func stream(_ length: Int?) async throws {
        let end = length == nil ? "0\r\n\r\n" : "cdef"
        let server = try await ScriptedServer([[.request, .bytes(length == nil ? 21 : 6), .text(Self.empty)]])
        let parts = PartSource(["ab", "cdef"])
        let answer = try await lab.connections().answer(
            server.url, "POST", body: .stream(length: length) { parts.next() })
        #expect(answer.exchange.status == 200)
        let text = try #require(server.received.all.first?.text)
        #expect(text.hasSuffix(length == nil ? "2\r\nab\r\n4\r\ncdef\r\n" + end : "abcdef"), "\(text)")
        #expect(text.contains(length == nil ? "Transfer-Encoding: chunked" : "Content-Length: 6"))
    }

    @Test(
        "A stream that is shorter or longer than its length, or that fails, ends the exchange",
        arguments: [(7, ["ab", "cdef"]), (5, ["ab", "cdef"]), (6, ["ab", "!"])])
    func wrongStream(_ length: Int, _ parts: [String]) async throws {
        let server = try await ScriptedServer([[.request, .bytes(1000)]])
        let source = PartSource(parts)
        let failure = await (try lab.connections()).failure(
            server.url, "POST", body: .stream(length: length) { try source.nextOrThrow() })
        #expect(failure?.code == .requestBodyStreamExhausted, "\(String(describing: failure))")
        #expect(await eventuallyInTask { ClientSockets.count(to: server.port) == 0 })
    }

    @Test("A stream is read only as fast as the server takes it")
    func pressure() async throws {
        let server = try await ScriptedServer([[.request]], nil, autoRead: false)
        let parts = Mutex(0)
        let connections = try lab.connections()
        let url = server.url
        let task = Task {
            await connections.failure(
                url, "POST",
                body: .stream(length: nil) {
                    parts.withLock { $0 += 1 }
                    return ByteBuffer(repeating: 0, count: 64 * 1024)
                }, inactivity: .minutes(10))
        }
        var (last, same) = (-1, 0)
        // The socket's buffers fill up, and then nothing more is asked for.
        _ = await eventuallyInTask {
            let count = parts.withLock { $0 }
            same = count == last ? same + 1 : 0
            last = count
            return same > 200 && count > 0
        }
        #expect(parts.withLock { $0 } < 1000)
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        #expect(await eventuallyInTask { ClientSockets.count(to: server.port) == 0 })
    }

    // MARK: Responses

    @Test(
        "A body ends as its framing says",
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nb\r\n3;x=y\r\nody\r\n0\r\nT: a\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\nbody", "HTTP/1.0 200 OK\r\n\r\nbody",
            "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody",
        ])
    func framing(_ response: String) async throws {
        let server = try await ScriptedServer([[.request, .text(response), .close]])
        #expect(try await lab.connections().answer(server.url).text == "body")
    }

    @Test(
        "A response to HEAD, and one with 204 or 304, has no body",
        arguments: [("HEAD", 200), ("GET", 204), ("GET", 304)])
    func withoutBody(_ method: String, _ status: Int) async throws {
        let head = "HTTP/1.1 \(status) A\r\nContent-Length: 10\r\nContent-Encoding: gzip\r\n\r\n"
        let server = try await ScriptedServer([[.request, .text(head), .request, .text(head)]])
        let connections = try lab.connections()
        for _ in 0..<2 {
            let answer = try await connections.answer(server.url, method)
            #expect(answer.exchange.status == status && answer.body.isEmpty)
        }
        #expect(server.connectionCount == 1)
    }

    @Test("A body is received only as fast as it is read, and arrives whole")
    func slowReader() async throws {
        let length = 64 << 20
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n"
        let server = try await ScriptedServer([[.request, .text(head), .repeated(1 << 16, length >> 16)]])
        let request = HTTPRequest("GET", try HTTPTarget(try #require(URL(string: server.url))))
        let exchange = try await lab.connections().exchange(request)
        var (last, same) = (-1, 0)
        _ = await eventuallyInTask {
            let count = server.written.value
            same = count == last ? same + 1 : 0
            last = count
            return same > 200
        }
        #expect(server.written.value < length >> 16, "\(server.written.value)")
        var count = 0
        for try await chunk in exchange.body { count += chunk.readableBytes }
        #expect(count == length)
    }

    @Test("Dropping a body ends its exchange and closes the connection")
    func dropped() async throws {
        let server = try await ScriptedServer([
            [.request, .text("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")]
        ])
        let connections = try lab.connections()
        let request = HTTPRequest("GET", try HTTPTarget(try #require(URL(string: server.url))))
        #expect(try await connections.exchange(request).status == 200)
        #expect(await eventuallyInTask { ClientSockets.count(to: server.port) == 0 })
    }

    // MARK: Content encodings

    @Test(
        "Content is decoded by the named encodings, in pieces of any length",
        arguments: ["gzip", "x-gzip", "deflate", "raw", "br", "gzip, deflate", "members"], [1, 7, 100_000])
    func decoding(_ name: String, _ pieceLength: Int) async throws {
        let text = String(repeating: "The quick brown fox. ", count: 5000)
        let content = try Encodings.encoded(Array(text.utf8), name)
        let coding = name == "raw" ? "deflate" : name == "members" ? "gzip" : name
        let pieces = stride(from: 0, to: content.count, by: pieceLength).map { start -> [UInt8] in
            let piece = content[start..<min(start + pieceLength, content.count)]
            return Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Array("\r\n".utf8)
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nTransfer-Encoding: chunked\r\n\r\n"
        let server = try await ScriptedServer([
            [.request, .text(head), .send(Array(pieces.joined())), .text("0\r\n\r\n")]
        ])
        let answer = try await lab.connections().answer(server.url)
        #expect(answer.text == text)
        #expect(server.received.all.first?.text.contains("Accept-Encoding: gzip, deflate, br\r\n") == true)
    }

    @Test(
        "A request for a range, and one with its own Accept-Encoding, is not decoded",
        arguments: ["Range", "Accept-Encoding"])
    func notDecoded(_ name: String) async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"
        let server = try await ScriptedServer([[.request, .text(head)]])
        let field = try #require(HTTPField(name, name == "Range" ? "bytes=0-" : "gzip"))
        #expect(try await lab.connections().answer(server.url, fields: [field]).text == "abc")
    }

    @Test(
        "Damaged content, and content that ends early, is an error",
        arguments: ["gzip", "deflate", "br"], [true, false])
    func damaged(_ name: String, _ isCut: Bool) async throws {
        var content = try Encodings.encoded(Array(String(repeating: "abcdefgh", count: 100).utf8), name)
        if isCut {
            content.removeLast(4)
        } else {
            content[content.count / 2] ^= 0xFF; content[content.count / 2 + 1] ^= 0xFF
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(name)\r\nContent-Length: \(content.count)\r\n\r\n"
        let server = try await ScriptedServer([[.request, .text(head), .send(content)]])
        #expect(await (try lab.connections()).failure(server.url)?.code == .cannotDecodeContentData)
    }
}

/// The parts of a body.
final class PartSource: Sendable {
    private let parts: Mutex<[String]>
    init(_ parts: [String]) { self.parts = Mutex(parts) }

    struct Failed: Error {}

    func next() -> ByteBuffer? {
        parts.withLock { $0.isEmpty ? nil : ByteBuffer(string: $0.removeFirst()) }
    }

    /// The part `!` is an error.
    func nextOrThrow() throws -> ByteBuffer? {
        let part = next()
        if let part, String(buffer: part) == "!" { throw Failed() }
        return part
    }
}

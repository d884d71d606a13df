// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyURLSession
import Synchronization
import Testing

@Suite("LatchkeySession")
struct LatchkeySessionTests {
    private let lab: Lab

    init() throws { lab = try Lab.shared() }

    private func session(pins: [Pin] = [], challenge: LatchkeySession.ChallengeHandler? = nil) throws -> LatchkeySession
    {
        var transport = LatchkeyTransport(policy: ConnectionPolicy(pins: try Lab.pins(pins)), trust: try lab.trust())
        transport.usesProxyEnvironment = false
        let configuration = URLSessionConfiguration.default
        (configuration.urlCache, configuration.httpCookieStorage) = (nil, nil)
        return LatchkeySession(transport, configuration: configuration, challenge: challenge)
    }

    @Test("Data is loaded and uploaded, and a closure answers the server's challenge")
    func data() async throws {
        let server = try await WebServer(lab) { .text("\($0.method) \($0.body.count)") }
        let methods = Mutex<[String]>([])
        let session = try session { challenge in
            methods.withLock { $0.append(challenge.protectionSpace.authenticationMethod) }
            return (.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
        }
        let (data, response) = try await session.data(from: server.url())
        #expect(String(decoding: data, as: UTF8.self) == "GET 0" && response.statusCode == 200)
        var request = URLRequest(url: server.url())
        request.httpMethod = "PUT"
        let (uploaded, _) = try await session.upload(for: request, from: Data(count: 12_345))
        #expect(String(decoding: uploaded, as: UTF8.self) == "PUT 12345")
        #expect(methods.withLock { $0 } == [NSURLAuthenticationMethodServerTrust])
    }

    @Test("An error is a URLError with the refusal")
    func errors() async throws {
        let server = try await WebServer(lab) { _ in .text("hello") }
        let session = try session(pins: [lab.authority.root.pin()])
        do {
            _ = try await session.data(from: server.url())
            Issue.record("accepted")
        } catch {
            #expect(error.code == .serverCertificateUntrusted)
            #expect((error.userInfo[NSUnderlyingErrorKey] as? TLSRefusal)?.pinFailures.count == 1)
        }
    }

    @Test("A closure decides about redirects, and another receives the metrics of each request")
    func redirects() async throws {
        let server = try await WebServer(lab) { $0.target == "/end" ? .text("end") : .redirect(to: "/end") }
        let metrics = Mutex<[LatchkeyMetrics]>([])
        var transport = LatchkeyTransport(trust: try lab.trust())
        transport.usesProxyEnvironment = false
        for isFollowing in [true, false] {
            let session = LatchkeySession(
                transport, configuration: .ephemeral, redirect: { _, request in isFollowing ? request : nil },
                metrics: { one in metrics.withLock { $0.append(one) } })
            let (_, response) = try await session.data(from: server.url("/start"))
            #expect(response.statusCode == (isFollowing ? 200 : 302))
        }
        let collected = metrics.withLock { $0 }
        #expect(collected.map { $0.transactions.map(\.status) } == [[302, 200], [302]])
        #expect(collected.first?.redirectCount == 1)
        let transaction = try #require(collected.first?.transactions.first)
        #expect(transaction.tlsVersion == "TLSv1.3" && transaction.remoteAddress == "127.0.0.1")
        #expect(transaction.secureConnectionStart != nil && transaction.responseStart != nil)
    }

    // MARK: Downloads

    private static let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    /// A server of one file that ends the connection after some bytes, and answers ranges.
    private func fileServer(cuts: [Int], tag: @escaping @Sendable () -> String = { "\"1\"" }) async throws -> WebServer
    {
        let number = Mutex(0)
        return try await WebServer(lab) { request in
            let index = number.withLock { number in
                defer { number += 1 }
                return number
            }
            let cut = index < cuts.count ? cuts[index] : nil
            let fields = [("ETag", tag()), ("Accept-Ranges", "bytes")]
            guard let range = request.fields["range"], request.fields["if-range"] == tag(),
                let first = Int(range.dropFirst("bytes=".count).dropLast())
            else { return .init(fields: fields, body: Self.content, cut: cut) }
            return .init(
                status: 206,
                fields: fields + [("Content-Range", "bytes \(first)-\(Self.content.count - 1)/\(Self.content.count)")],
                body: Array(Self.content[first...]), cut: cut)
        }
    }

    @Test("A download that is interrupted again and again continues where it was, and exists only when complete")
    func resume() async throws {
        let cuts = [1, 40_000, 1, 65_536, 30_000]
        let server = try await fileServer(cuts: cuts)
        let directory = try TemporaryDirectory()
        let file = URL(filePath: "\(directory.path)/file")
        let session = try session()
        for number in cuts.indices {
            do {
                _ = try await session.download(for: URLRequest(url: server.url()), to: file)
                Issue.record("complete after \(number)")
            } catch { #expect(error.code == .networkConnectionLost) }
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
        let last = Mutex<LatchkeySession.DownloadProgress?>(nil)
        let response = try await session.download(for: URLRequest(url: server.url()), to: file) { progress in
            last.withLock { $0 = progress }
        }
        #expect(try Array(Data(contentsOf: file)) == Self.content && response.statusCode == 206)
        #expect(last.withLock { $0?.receivedBytes == 200_000 && $0?.expectedBytes == 200_000 })
        let offsets = server.requests.dropFirst().map { $0.fields["range"] }
        #expect(offsets == ["bytes=1-", "bytes=40001-", "bytes=40002-", "bytes=105538-", "bytes=135538-"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["file"])
    }

    @Test("If the content has changed, a download begins again")
    func changed() async throws {
        let tag = Mutex("\"1\"")
        let server = try await fileServer(cuts: [50_000]) { tag.withLock { $0 } }
        let directory = try TemporaryDirectory()
        let file = URL(filePath: "\(directory.path)/file")
        let session = try session()
        _ = try? await session.download(for: URLRequest(url: server.url()), to: file)
        tag.withLock { $0 = "\"2\"" }
        let response = try await session.download(for: URLRequest(url: server.url()), to: file)
        #expect(response.statusCode == 200 && server.requests.last?.fields["if-range"] == "\"1\"")
        #expect(try Array(Data(contentsOf: file)) == Self.content)
    }

    @Test("A part left by a crash is used only as far as it was on disk")
    func crash() async throws {
        let server = try await fileServer(cuts: [50_000])
        let directory = try TemporaryDirectory()
        let file = URL(filePath: "\(directory.path)/file")
        let session = try session()
        _ = try? await session.download(for: URLRequest(url: server.url()), to: file)
        // Bytes that were written after the last synchronization, and may be anything.
        let handle = try FileHandle(forWritingTo: URL(filePath: file.path + ".partial"))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(repeating: 0, count: 10_000))
        try handle.close()
        _ = try await session.download(for: URLRequest(url: server.url()), to: file)
        #expect(server.requests.last?.fields["range"] == "bytes=50000-")
        #expect(try Array(Data(contentsOf: file)) == Self.content)
    }

    @Test("A status other than 200 is an error of a download, and leaves the file that exists")
    func missing() async throws {
        let server = try await WebServer(lab) { _ in .init(status: 404, body: Array("no".utf8)) }
        let directory = try TemporaryDirectory()
        let file = URL(filePath: "\(directory.path)/file")
        try Data("old".utf8).write(to: file)
        let session = try session()
        do {
            _ = try await session.download(for: URLRequest(url: server.url()), to: file)
            Issue.record("accepted")
        } catch { #expect(error.code == .badServerResponse) }
        #expect(try Data(contentsOf: file) == Data("old".utf8))
    }

    // MARK: Lines and events

    @Test("Lines arrive as they are sent")
    func lines() async throws {
        let server = try await WebServer(lab) { _ in .text("one\r\ntwo\n\nlast") }
        var lines: [String] = []
        for try await line in try session().lines(for: URLRequest(url: server.url())) { lines.append(line) }
        #expect(lines == ["one", "two", "", "last"])
    }

    @Test("Events are received again after the end of a connection, with the last identifier, until 204")
    func events() async throws {
        let server = try await WebServer(lab) { request in
            let type = [("Content-Type", "text/event-stream")]
            switch request.fields["last-event-id"] {
            case nil: return .init(fields: type, body: Array("retry: 1\nid: 1\ndata: a\n\n".utf8), isOpenEnded: true)
            case "1": return .init(fields: type, body: Array("id: 2\ndata: b\n\n".utf8), isOpenEnded: true)
            default: return .init(status: 204)
            }
        }
        var events: [String] = []
        for try await event in try session().events(for: URLRequest(url: server.url())) { events.append(event.data) }
        #expect(events == ["a", "b"] && server.requests.count == 3)
    }
}

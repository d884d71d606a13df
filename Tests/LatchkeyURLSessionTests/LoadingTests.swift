// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyURLSession
import Synchronization
import Testing

/// Redirects, cookies, the cache and bodies, through `URLSession`.
@Suite("URLSession: loading")
struct LoadingTests {
    private let lab: Lab

    init() throws { lab = try Lab.shared() }

    private func text(_ session: URLSession, _ request: URLRequest) async -> String {
        do {
            let (data, response) = try await session.data(for: request)
            return "\((response as? HTTPURLResponse)?.statusCode ?? 0) \(String(decoding: data, as: UTF8.self))"
        } catch { return "\((error as NSError).code)" }
    }

    private func text(_ session: URLSession, _ url: URL) async -> String { await text(session, URLRequest(url: url)) }

    // MARK: Redirects

    /// Decides about redirects, and records them.
    private final class RedirectDelegate: NSObject, URLSessionTaskDelegate {
        let targets = Mutex<[String]>([])
        let isFollowing: Bool
        init(isFollowing: Bool) { self.isFollowing = isFollowing }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @Sendable @escaping (URLRequest?) -> Void
        ) {
            targets.withLock { $0.append("\(response.statusCode) \(request.url?.path ?? "")") }
            completionHandler(isFollowing ? request : nil)
        }
    }

    @Test("Redirects are followed if the delegate agrees, and are the result otherwise")
    func redirects() async throws {
        let server = try await WebServer(lab) { $0.target == "/end" ? .text("end") : .redirect(to: "/end") }
        let (following, refusing) = (RedirectDelegate(isFollowing: true), RedirectDelegate(isFollowing: false))
        #expect(await text(try lab.session(following), server.url("/start")) == "200 end")
        #expect(following.targets.withLock { $0 } == ["302 /end"])
        #expect(await text(try lab.session(refusing), server.url("/start")) == "302 ")
    }

    /// Has the asynchronous form alone.
    private final class AsynchronousRedirects: NSObject, URLSessionDelegate, LatchkeySessionDelegate {
        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest
        ) async -> URLRequest? { request.url?.path == "/end" ? request : nil }
    }

    @Test("The asynchronous form of LatchkeySessionDelegate decides about redirects")
    func asynchronousRedirects() async throws {
        let server = try await WebServer(lab) { request in
            switch request.target {
            case "/end": .text("end")
            case "/start": .redirect(to: "/end")
            default: .redirect(to: "/other")
            }
        }
        let session = try lab.session(AsynchronousRedirects())
        #expect(await text(session, server.url("/start")) == "200 end")
        #expect(await text(session, server.url("/refused")) == "302 ")
    }

    @Test("A redirect to http is refused with -1022, and a circle of redirects ends")
    func refusedRedirects() async throws {
        let plain = try await WebServer(nil) { _ in .text("plain") }
        let target = plain.url("/secret").absoluteString
        let server = try await WebServer(lab) {
            $0.target == "/circle" ? .redirect(to: "/circle") : .redirect(to: target)
        }
        #expect(await text(try lab.session(), server.url()) == "-1022")
        #expect(plain.connectionCount == 0)
        #expect(await text(try lab.session(), server.url("/circle")) == "-1007")
        #expect(server.requests.count == 22)
    }

    @Test("A redirect from https to http is refused also where http is allowed")
    func downgrade() async throws {
        var settings = AppTransportSecurity.strict
        settings.allowsLocalNetworking = true
        let plain = try await WebServer(nil) { _ in .text("plain") }
        let target = plain.url("/secret").absoluteString
        let server = try await WebServer(lab) { _ in .redirect(to: target) }
        let session = try lab.session(settings: settings)
        #expect(await text(session, plain.url()) == "200 plain")
        #expect(await text(session, server.url()) == "-1022")
        #expect(plain.requests.count == 1)
    }

    @Test("A redirect to another origin has neither Authorization nor Cookie")
    func otherOrigin() async throws {
        let other = try await WebServer(lab) { _ in .text("other") }
        let target = other.url("/x").absoluteString
        let server = try await WebServer(lab) {
            $0.target == "/out" ? .redirect(307, to: target) : .redirect(to: "/out")
        }
        var request = URLRequest(url: server.url("/in"))
        request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
        request.setValue("a=secret", forHTTPHeaderField: "Cookie")
        #expect(await text(try lab.session(), request) == "200 other")
        #expect(server.requests.map { $0.fields["authorization"] } == ["Bearer secret", "Bearer secret"])
        let fields = try #require(other.requests.first).fields
        #expect(fields["authorization"] == nil && fields["cookie"] == nil)
    }

    @Test("A body is sent again after 307, and not after 303", arguments: [(307, "POST", "body"), (303, "GET", "")])
    func bodies(_ status: Int, _ method: String, _ body: String) async throws {
        let server = try await WebServer(lab) { $0.target == "/end" ? .text("end") : .redirect(status, to: "/end") }
        var request = URLRequest(url: server.url("/start"))
        request.httpMethod = "POST"
        request.httpBody = Data("body".utf8)
        #expect(await text(try lab.session(), request) == "200 end")
        let last = try #require(server.requests.last)
        #expect(last.method == method && String(decoding: last.body, as: UTF8.self) == body)
    }

    // MARK: Cookies and cache

    @Test("Cookies of every hop are stored and sent, those for a public suffix are not")
    func cookies() async throws {
        let server = try await WebServer(lab) { request in
            request.target == "/set"
                ? .init(
                    status: 302,
                    fields: [
                        ("Set-Cookie", "a=1; Path=/"), ("Set-Cookie", "b=2; Domain=com"),
                        ("Set-Cookie", "c=3; Expires=Wed, 01 Jan 2098 00:00:00 GMT; Path=/"), ("Location", "/end"),
                    ]) : .text(request.fields["cookie"] ?? "none")
        }
        let session = try lab.session()
        #expect(await text(session, server.url("/set")) == "200 a=1; c=3")
        let later = await text(session, server.url("/later"))
        #expect(later == "200 a=1; c=3")
        let refusing = try lab.session { $0.httpCookieAcceptPolicy = .never }
        #expect(await text(refusing, server.url("/set")) == "200 none")
    }

    @Test("Fresh responses are used without the server, others are validated, and ignored if the policy says so")
    func cache() async throws {
        let server = try await WebServer(lab) { request in
            if request.fields["if-none-match"] == "\"1\"" { return .init(status: 304, fields: [("ETag", "\"1\"")]) }
            let isFresh = request.target == "/fresh"
            return .init(
                fields: [
                    ("Date", Self.now()), ("ETag", "\"1\""), ("Cache-Control", isFresh ? "max-age=600" : "no-cache"),
                ], body: Array("cached".utf8))
        }
        let directory = try TemporaryDirectory()
        let session = try lab.session {
            $0.urlCache = URLCache(memoryCapacity: 4 << 20, diskCapacity: 0, diskPath: directory.path)
        }
        for _ in 0..<3 { #expect(await text(session, server.url("/fresh")) == "200 cached") }
        #expect(server.requests.count == 1)
        for _ in 0..<2 { #expect(await text(session, server.url("/validated")) == "200 cached") }
        #expect(server.requests.count == 3 && server.requests.last?.fields["if-none-match"] == "\"1\"")
        var request = URLRequest(url: server.url("/fresh"))
        request.cachePolicy = .reloadIgnoringLocalCacheData
        #expect(await text(session, request) == "200 cached" && server.requests.count == 4)
        request = URLRequest(url: server.url("/unknown"))
        request.cachePolicy = .returnCacheDataDontLoad
        #expect(await text(session, request) == "-1008")
        request = URLRequest(url: server.url("/private"))
        request.setValue("Bearer x", forHTTPHeaderField: "Authorization")
        for _ in 0..<2 { _ = await text(session, request) }
        #expect(server.requests.count == 6)
    }

    private static func now() -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: Date())
    }

    // MARK: Bodies and tasks

    /// Records the calls of a task to its delegate, and ends with the task.
    private final class Recorder: NSObject, URLSessionDataDelegate, LatchkeyMetricsDelegate {
        let received = Mutex(Data())
        let parts = Mutex(0)
        let sent = Mutex<[Int64]>([])
        let protocols = Mutex<[String]>([])
        private let ended: AsyncStream<Int>.Continuation
        let end: AsyncStream<Int>

        override init() { (end, ended) = AsyncStream.makeStream() }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            received.withLock { $0.append(data) }
            parts.withLock { $0 += 1 }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
            totalBytesExpectedToSend: Int64
        ) {
            sent.withLock { $0.append(totalBytesSent) }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @Sendable @escaping (InputStream?) -> Void
        ) {
            completionHandler(InputStream(data: Data(repeating: 7, count: 100_000)))
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: LatchkeyMetrics) {
            protocols.withLock { $0 += metrics.transactions.map(\.networkProtocolName) }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            ended.yield((error as NSError?)?.code ?? 0)
            ended.finish()
        }

        func code() async -> Int { await end.first { _ in true } ?? 1 }
    }

    @Test(
        "Uploads from data, a file and a stream arrive complete, with progress", arguments: ["data", "file", "stream"])
    func uploads(_ source: String) async throws {
        let server = try await WebServer(lab) { .text("\($0.body.count)") }
        let recorder = Recorder()
        let session = try lab.session(recorder)
        var request = URLRequest(url: server.url())
        request.httpMethod = "POST"
        let body = Data(repeating: 7, count: 100_000)
        let directory = try TemporaryDirectory()
        let file = URL(filePath: "\(directory.path)/body")
        try body.write(to: file)
        let task =
            switch source {
            case "data": session.uploadTask(with: request, from: body)
            case "file": session.uploadTask(with: request, fromFile: file)
            default: session.uploadTask(withStreamedRequest: request)
            }
        task.resume()
        #expect(await recorder.code() == 0)
        #expect(recorder.received.withLock { String(decoding: $0, as: UTF8.self) } == "100000")
        #expect(server.requests.first?.body == Array(body))
        #expect(recorder.sent.withLock { $0.last } == 100_000)
        #expect(recorder.protocols.withLock { $0 } == ["http/1.1"])
    }

    @Test("A large body reaches a delegate and a completion handler complete")
    func large() async throws {
        let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let server = try await WebServer(lab) { _ in .init(body: body) }
        let recorder = Recorder()
        try lab.session(recorder).dataTask(with: server.url()).resume()
        #expect(await recorder.code() == 0)
        #expect(recorder.received.withLock { $0 } == Data(body) && recorder.parts.withLock { $0 } > 1)
        let (data, _) = try await lab.session().data(from: server.url())
        #expect(data == Data(body))
    }

    @Test("A cancelled task ends with -999, a suspended one continues, and a silent server ends with -1001", .long)
    func states() async throws {
        let server = try await WebServer(lab) { $0.target == "/silent" ? .init(isSilent: true) : .text("hello") }
        let cancelled = Recorder()
        let task = try lab.session(cancelled).dataTask(with: server.url("/silent"))
        task.resume()
        while server.requests.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
        task.cancel()
        #expect(await cancelled.code() == -999)
        let suspended = Recorder()
        let second = try lab.session(suspended).dataTask(with: server.url("/hello"))
        second.resume()
        second.suspend()
        second.resume()
        #expect(await suspended.code() == 0)
        #expect(suspended.received.withLock { String(decoding: $0, as: UTF8.self) } == "hello")
        #expect(await text(try lab.session { $0.timeoutIntervalForRequest = 1 }, server.url("/silent")) == "-1001")
        #expect(await text(try lab.session { $0.timeoutIntervalForResource = 1 }, server.url("/silent")) == "-1001")
    }

    @Test("A download task gives the handler a file that only its user can read, with the whole content")
    func downloads() async throws {
        let server = try await WebServer(lab) { _ in .text(String(repeating: "hello", count: 100_000)) }
        let session = try lab.session()
        let (content, mode) = try await withCheckedThrowingContinuation { continuation in
            session.downloadTask(with: server.url()) { file, _, error in
                continuation.resume(
                    with: Result {
                        let file = try #require(file, "\(String(describing: error))")
                        defer { try? FileManager.default.removeItem(at: file) }
                        let mode =
                            try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
                        return (try Data(contentsOf: file), mode)
                    })
            }.resume()
        }
        #expect(content == Data(String(repeating: "hello", count: 100_000).utf8) && mode == 0o600)
    }

    @Test("A failed task reports the metrics of its transactions")
    func failedMetrics() async throws {
        let server = try await WebServer(lab) { .redirect(to: $0.target) }
        let recorder = Recorder()
        try lab.session(recorder).dataTask(with: server.url()).resume()
        #expect(await recorder.code() == -1007)
        #expect(recorder.protocols.withLock { $0.count } == 21)
    }

    @Test("Many tasks at once on several sessions all end, also when half of them are cancelled")
    func many() async throws {
        let server = try await WebServer(lab) { .text($0.target) }
        let sessions = try (0..<4).map { _ in try lab.session() }
        let counts = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                let (session, url) = (sessions[number % 4], server.url("/\(number)"))
                group.addTask {
                    let task = Task { try await session.data(from: url).0 }
                    if number % 2 == 0 { task.cancel() }
                    let result = try? await task.value
                    return result == Data("/\(number)".utf8)
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(counts >= 50)
    }
}

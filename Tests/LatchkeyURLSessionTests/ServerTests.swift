// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyURLSession
import Synchronization
import Testing

/// Servers of other projects, and HTTP/2, through `URLSession`.
@Suite("URLSession: servers")
struct ServerTests {
    private let lab: Lab

    init() throws { lab = try Lab.shared() }

    /// Collects the protocols of all tasks.
    private final class Metrics: NSObject, URLSessionTaskDelegate, LatchkeyMetricsDelegate {
        let protocols = Mutex<[String]>([])

        func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: LatchkeyMetrics) {
            protocols.withLock { $0 += metrics.transactions.map { "\($0.networkProtocolName) \($0.tlsVersion ?? "")" } }
        }
    }

    private func url(_ port: Int, _ path: String) throws -> URL {
        try #require(URL(string: "https://\(Lab.host):\(port)\(path)"))
    }

    private func latchkeySession() throws -> LatchkeySession {
        var transport = LatchkeyTransport(trust: try lab.trust())
        transport.usesProxyEnvironment = false
        return LatchkeySession(transport, configuration: .ephemeral)
    }

    // MARK: HTTP/2

    @Test("A hundred tasks at once share one connection of HTTP/2, and its one challenge")
    func multiplexed() async throws {
        let server = try await WebServer(lab, isHTTP2: true) { .text("\($0.method) \($0.target) \($0.body.count)") }
        let delegate = AnsweringDelegate { _ in (.performDefaultHandling, nil) }
        let session = try lab.session(delegate)
        // One connection is there; the others use it.
        _ = try await session.data(from: server.url("/first"))
        let right = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                var request = URLRequest(url: server.url("/\(number)"))
                request.httpMethod = "POST"
                request.httpBody = Data(count: number)
                let sent = request
                group.addTask {
                    let (data, response) = try await session.data(for: sent)
                    return String(decoding: data, as: UTF8.self) == "POST /\(number) \(number)"
                        && (response as? HTTPURLResponse)?.statusCode == 200
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(right == 100 && server.connectionCount == 1)
        #expect(delegate.challenges.withLock { $0.count { !$0.hasPrefix("task") } } == 1)
    }

    @Test("Redirects, passwords, large bodies and metrics are the same with HTTP/2")
    func loading() async throws {
        let body = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let basic = "Basic " + Data("me:right".utf8).base64EncodedString()
        let server = try await WebServer(lab, isHTTP2: true) { request in
            if request.target == "/start" { return .redirect(to: "/end") }
            return request.fields["authorization"] == basic
                ? .init(body: body) : .init(status: 401, fields: [("WWW-Authenticate", #"Basic realm="r""#)])
        }
        let metrics = Metrics()
        let session = try lab.session(metrics)
        var components = try #require(URLComponents(url: server.url("/start"), resolvingAgainstBaseURL: false))
        (components.user, components.password) = ("me", "right")
        // The redirect stays in its origin, but has no password in its location.
        let (_, first) = try await session.data(from: #require(components.url))
        #expect((first as? HTTPURLResponse)?.statusCode == 401)
        components.path = "/end"
        let (data, _) = try await session.data(from: #require(components.url))
        #expect(data == Data(body) && server.connectionCount == 1)
        #expect(await eventuallyInTask { metrics.protocols.withLock { $0.count } == 4 })
        #expect(metrics.protocols.withLock { Set($0) } == ["h2 TLSv1.3"])
    }

    // MARK: openssl and Python

    @Test(
        "openssl's server is loaded, with both versions of TLS",
        arguments: [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")])
    func openssl(_ option: String, _ version: String) async throws {
        let server = try await OpenSSLServer(lab.server, of: lab.authority, [option])
        let metrics = Metrics()
        let session = try lab.session(metrics)
        let (data, response) = try await session.data(from: url(server.port, "/"))
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(String(decoding: data, as: UTF8.self).contains(version))
        #expect(await eventuallyInTask { metrics.protocols.withLock { $0 } == ["http/1.1 \(version)"] })
    }

    private static let python = "/usr/bin/python3"
    /// Serves the directory of its first argument, with the certificates and the key of the second and
    /// third, and says its port.
    private static let script = """
        import functools, http.server, ssl, sys
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])
        server.socket = context.wrap_socket(server.socket, server_side=True)
        print("port", server.server_address[1], flush=True)
        server.serve_forever()
        """

    @Test(
        "Python's server is loaded, and a download from it is complete",
        .enabled(if: FileManager.default.isExecutableFile(atPath: ServerTests.python)))
    func pythonServer() async throws {
        let directory = try TemporaryDirectory()
        let content = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 13) })
        try content.write(to: URL(filePath: "\(directory.path)/file"))
        let (process, log) = try start([
            Self.python, "-c", Self.script, directory.path, try chain(), lab.server.keyFile,
        ])
        let port = try #require(await port(log, /port (\d+)\n/))
        let (data, _) = try await lab.session().data(from: url(port, "/file"))
        #expect(data == content)
        let file = URL(filePath: "\(directory.path)/copy")
        let response = try await latchkeySession().download(for: URLRequest(url: url(port, "/file")), to: file)
        #expect(try Data(contentsOf: file) == content && response.statusCode == 200)
        withExtendedLifetime(process) {}
    }

    // MARK: nginx

    private static let nginx = "/usr/sbin/nginx"

    @Test(
        "A download from nginx continues after an interruption, and HTTP/2 is spoken",
        .enabled(if: FileManager.default.isExecutableFile(atPath: ServerTests.nginx), "nginx is not installed"))
    func nginxServer() async throws {
        let directory = try TemporaryDirectory(reachableByAll: ())
        let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ $0 >> 9) })
        try content.write(to: URL(filePath: "\(directory.path)/file"))
        let (process, port) = try await startNginx(in: directory)
        let metrics = Metrics()
        let session = try lab.session(metrics)
        let (data, _) = try await session.data(from: url(port, "/file"))
        #expect(data == content)
        #expect(await eventuallyInTask { metrics.protocols.withLock { $0 } == ["h2 TLSv1.3"] })
        let (file, request) = (URL(filePath: "\(directory.path)/copy"), URLRequest(url: try url(port, "/file")))
        let downloads = try latchkeySession()
        // The task is cancelled when the first part is written.
        let (parts, part) = AsyncStream.makeStream(of: Int64.self)
        let first = Task {
            defer { part.finish() }
            return try await downloads.download(for: request, to: file) { part.yield($0.receivedBytes) }
        }
        #expect(await parts.first { $0 > 0 } != nil)
        first.cancel()
        _ = await first.result
        let offset = Mutex<Int64?>(nil)
        let response = try await downloads.download(for: request, to: file) { progress in
            offset.withLock { $0 = $0 ?? progress.receivedBytes }
        }
        #expect(try Data(contentsOf: file) == content)
        // The first download may have been faster than its cancellation.
        #expect([200, 206].contains(response.statusCode))
        withExtendedLifetime(process) {}
    }

    private struct NotStarted: Error {}

    private func startNginx(in directory: TemporaryDirectory) async throws -> (SpawnedProcess, Int) {
        // nginx does not report the port that the kernel chose, so another port is tried if one is in use.
        for _ in 0..<20 {
            let port = Int.random(in: 20_000..<60_000)
            let settings = """
                daemon off; master_process off; pid \(directory.path)/pid; error_log stderr notice;
                events {}
                http {
                  access_log off; client_body_temp_path \(directory.path)/b; proxy_temp_path \(directory.path)/p;
                  fastcgi_temp_path \(directory.path)/f; uwsgi_temp_path \(directory.path)/u; scgi_temp_path \(directory.path)/s;
                  server {
                    listen 127.0.0.1:\(port) ssl http2; root \(directory.path); limit_rate 20m;
                    ssl_protocols TLSv1.2 TLSv1.3; ssl_certificate \(try chain()); ssl_certificate_key \(lab.server.keyFile);
                  }
                }
                """
            try Data(settings.utf8).write(to: URL(filePath: "\(directory.path)/conf"))
            let (process, log) = try start([Self.nginx, "-p", directory.path, "-c", "\(directory.path)/conf"])
            func text() -> String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }
            _ = await eventuallyInTask {
                text().contains("start worker") || text().contains("using the \"epoll\"") || !process.isRunning
            }
            if process.isRunning { return (process, port) }
        }
        throw NotStarted()
    }

    // MARK: Processes

    private func start(_ words: [String]) throws -> (SpawnedProcess, log: String) {
        let log = lab.authority.openssl.path("log-\(UUID().uuidString)")
        return (try SpawnedProcess(words, environment: ["PATH": "/usr/bin:/bin"], output: log), log)
    }

    private func port(_ log: String, _ pattern: Regex<(Substring, Substring)>) async -> Int? {
        var found: Int?
        _ = await eventuallyInTask {
            let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            found = text.firstMatch(of: pattern).flatMap { Int($0.1) }
            return found != nil
        }
        return found
    }

    /// The certificates of the server, leaf first, in one file.
    private func chain() throws -> String {
        let files = [lab.server.file, lab.authority.intermediate.file]
        return try lab.authority.openssl.file(files.flatMap { try Data(contentsOf: URL(filePath: $0)) })
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyURLSession
import Synchronization
import Testing

/// Downloads with a connection that ends at every place.
@Suite("Downloads: interruptions")
struct DownloadTests {
    private let lab: Lab

    init() throws { lab = try Lab.shared() }

    private static let chunk = 1000
    private static let content = (0..<12_345).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    /// A server of one file that ends every connection after one chunk.
    private func server(isHTTP2: Bool) async throws -> WebServer {
        try await WebServer(lab, isHTTP2: isHTTP2) { request in
            let fields = [("ETag", "\"1\""), ("Accept-Ranges", "bytes")]
            let count = Self.content.count
            guard let range = request.fields["range"], request.fields["if-range"] == "\"1\"",
                let first = Int(range.dropFirst("bytes=".count).dropLast())
            else { return .init(fields: fields, body: Self.content, cut: Self.chunk) }
            return .init(
                status: 206, fields: fields + [("Content-Range", "bytes \(first)-\(count - 1)/\(count)")],
                body: Array(Self.content[first...]), cut: count - first > Self.chunk ? Self.chunk : nil)
        }
    }

    @Test(
        "A download continues after the connection ended at every chunk, and no byte is sent twice",
        arguments: [false, true])
    func everyChunk(_ isHTTP2: Bool) async throws {
        let server = try await server(isHTTP2: isHTTP2)
        let directory = try TemporaryDirectory()
        let file = URL(filePath: "\(directory.path)/file")
        var transport = LatchkeyTransport(trust: try lab.trust())
        transport.usesProxyEnvironment = false
        var failures = 0
        while failures < 20 {
            // A new session each time, as after a restart of the program.
            let session = LatchkeySession(transport, configuration: .ephemeral)
            do {
                _ = try await session.download(for: URLRequest(url: server.url()), to: file)
                break
            } catch {
                #expect(error.code == .networkConnectionLost)
                failures += 1
            }
        }
        #expect(try Array(Data(contentsOf: file)) == Self.content)
        #expect(failures == 12)
        let expected = (1...12).map { "bytes=\($0 * Self.chunk)-" }
        #expect(server.requests.dropFirst().map { $0.fields["range"] } == expected)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["file"])
    }
}

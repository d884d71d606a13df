// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc

/// A server of openssl on a port that the kernel chose. It answers each request with a page about the
/// connection.
public final class OpenSSLServer: Sendable {
    public let port: Int
    private let process: SpawnedProcess
    private let log: String

    public struct NotListening: Error { public let log: String }

    /// - Parameter options: further arguments of s_server, such as `-tls1_2`.
    public convenience init(
        _ identity: OpenSSLAuthority.IssuedCertificate, of authority: OpenSSLAuthority, _ options: [String] = []
    ) async throws {
        try await self.init(certificate: identity.file, key: identity.keyFile, of: authority, options)
    }

    /// - Parameters:
    ///   - certificate: a file.
    ///   - key: the file of its private key.
    public init(certificate: String, key: String, of authority: OpenSSLAuthority, _ options: [String] = []) async throws
    {
        log = authority.openssl.path("server-\(UUID().uuidString).log")
        let words = [
            "/usr/bin/openssl", "s_server", "-accept", "127.0.0.1:0", "-www", "-cert", certificate, "-key", key,
            "-cert_chain", authority.intermediate.file,
        ]
        process = try SpawnedProcess(
            words + options, environment: ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent"], output: log)
        let (log, process) = (log, process)
        func text() -> String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }
        func port() -> Int? { text().firstMatch(of: /ACCEPT 127\.0\.0\.1:(\d+)\n/).flatMap { Int($0.1) } }
        _ = await eventuallyInTask { port() != nil || !process.isRunning }
        guard let port = port() else { throw NotListening(log: text()) }
        self.port = port
    }

    /// The output of the server.
    public var output: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

    deinit { process.stop(signal: SIGKILL) }
}

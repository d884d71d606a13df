// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Foundation
import KeychainTesting
import TransportPolicy

/// CAs and a keychain for the commands of one test.
struct Lab: Sendable {
    typealias Issued = OpenSSLAuthority.IssuedCertificate

    let authority: OpenSSLAuthority
    let home: TemporaryDirectory

    private static let authorities = Result { (try OpenSSLAuthority(), try OpenSSLAuthority()) }

    init() throws {
        (authority, home) = (try Self.authorities.get().0, try TemporaryDirectory())
    }

    /// A CA with the same names and other keys.
    var other: OpenSSLAuthority { get throws { try Self.authorities.get().1 } }

    /// The name in the certificates of the servers.
    static let host = "api.example.com"

    func server(_ options: [String] = [], days: Int = 90) async throws -> OpenSSLServer {
        try await OpenSSLServer(authority.server(Self.host, days: days), of: authority, options)
    }

    /// The options to reach a server of the lab.
    var options: [String] { ["--connect-to", "127.0.0.1", "--ca", authority.root.file] }

    /// Runs `latchkey` without blocking a thread of tasks.
    func latchkey(_ arguments: [String]) async throws -> Executable.Outcome { try await run("latchkey", arguments) }

    func run(_ program: String, _ arguments: [String]) async throws -> Executable.Outcome {
        let home = home.path
        return try await onThread { try Executable.run(program, arguments, home: home) }
    }

    /// Runs a body as a program that uses the keychain of the commands.
    func asProgram<Value>(_ body: () async throws -> Value) async throws -> Value {
        try await TestKeychain(in: home, clock: TestClock()).runTask(groups: nil) { try await body() }
    }

    func json<Report: Decodable>(_ type: Report.Type, _ arguments: [String]) async throws -> (Int32, Report) {
        let outcome = try await latchkey(arguments)
        return (outcome.status, try JSONDecoder().decode(type, from: Data(outcome.output.utf8)))
    }
}

/// Runs blocking work on a thread of its own: this machine may have two threads for all tasks.
func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
    }
}

extension OpenSSLAuthority.IssuedCertificate {
    func pin() throws -> String { Pin(try Certificate(der: Array(der))).description }
}

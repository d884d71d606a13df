// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import FoundationNetworking
import LatchkeyURLSession

/// A client that loads a URL on a new connection.
enum HandshakeContender: String, CaseIterable, ExpressibleByArgument {
    /// NIO, with BoringSSL's own verification.
    case floor
    /// The same with the verification of LatchkeyNIOSSL.
    case latchkeyNIOSSL = "latchkey-niossl"
    case latchkeySession = "latchkey-session"
    case latchkeyURLSession = "latchkey-urlsession"
    /// A `LatchkeyURLSession` that trusts the system's anchors as well, and reads trust settings and the keychain.
    case systemTrust = "latchkey-urlsession-system"
    /// A `URLSession` with a protocol that answers at once, without a connection.
    case sessionAlone = "urlsession-alone"
    case foundation

    /// Returns a function that makes one request.
    func client(_ server: Server) throws -> @Sendable () async throws -> Void {
        let url = server.url
        switch self {
        case .floor:
            let floor = try NIOClient(server, .boringSSL)
            return { try await floor.get() }
        case .latchkeyNIOSSL:
            let client = try NIOClient(server, .latchkey)
            return { try await client.get() }
        case .latchkeySession:
            let session = LatchkeySession(trust: try server.ownTrust)
            return { try check(try await session.data(from: url)) }
        case .latchkeyURLSession:
            let session = URLSession(configuration: .latchkey(policy: ConnectionPolicy(), trust: try server.ownTrust))
            return { try check(try await session.data(from: url)) }
        case .systemTrust:
            let trust = PeerTrust(anchors: try server.ownTrust.anchors)
            let session = URLSession(configuration: .latchkey(policy: ConnectionPolicy(), trust: trust))
            return { try check(try await session.data(from: url)) }
        case .sessionAlone:
            let configuration = URLSessionConfiguration.default
            configuration.protocolClasses = [ImmediateProtocol.self]
            let session = URLSession(configuration: configuration)
            return { try check(try await session.data(from: url)) }
        case .foundation:
            let session = URLSession(configuration: .default)
            return { try check(try await session.data(from: url)) }
        }
    }
}

private func check(_ loaded: (Data, some URLResponse)) throws {
    let status = (loaded.1 as? HTTPURLResponse)?.statusCode
    guard status == 200, !loaded.0.isEmpty else {
        throw BenchmarkFailure("expected a body with the status 200, found \(status ?? 0) and \(loaded.0.count) bytes")
    }
}

extension Server {
    /// Trust in the root alone.
    var ownTrust: PeerTrust { get throws { .only([try Certificate(der: root)]) } }
}

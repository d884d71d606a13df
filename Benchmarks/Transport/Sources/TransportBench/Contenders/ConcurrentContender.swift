// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import FoundationNetworking
import LatchkeyURLSession

/// A client that makes many requests at once.
enum ConcurrentContender: String, CaseIterable, ExpressibleByArgument {
    case latchkeyURLSession = "latchkey-urlsession"
    case latchkeySession = "latchkey-session"

    /// Returns a function that makes one request, and returns its body.
    func client(_ server: Server) throws -> @Sendable () async throws -> String {
        let url = server.url
        switch self {
        case .latchkeyURLSession:
            let session = URLSession(configuration: .latchkey(policy: ConnectionPolicy(), trust: try server.ownTrust))
            return { try text(try await session.data(from: url)) }
        case .latchkeySession:
            let session = LatchkeySession(trust: try server.ownTrust)
            return { try text(try await session.data(from: url)) }
        }
    }
}

private func text(_ loaded: (Data, some URLResponse)) throws -> String {
    guard (loaded.1 as? HTTPURLResponse)?.statusCode == 200 else { throw BenchmarkFailure("expected the status 200") }
    return String(decoding: loaded.0, as: UTF8.self)
}

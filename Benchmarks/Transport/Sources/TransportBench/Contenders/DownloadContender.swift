// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import FoundationNetworking
import LatchkeyURLSession

/// A client that loads a large response.
enum DownloadContender: String, CaseIterable, ExpressibleByArgument {
    /// NIO with BoringSSL's own verification; it counts bytes.
    case floor
    /// A data task of FoundationNetworking with a delegate that counts bytes.
    case foundationDelegate = "foundation-delegate"
    /// The same with `LatchkeyURLSession`.
    case latchkeyDelegate = "latchkey-delegate"
    /// A download task of FoundationNetworking.
    case foundationFile = "foundation-file"
    /// `LatchkeySession.download(for:to:)`.
    case latchkeyFile = "latchkey-file"

    /// Returns a function that loads once, and returns the number of bytes.
    func client(_ server: Server, _ directory: String) throws -> @Sendable () async throws -> Int {
        let url = server.url
        switch self {
        case .floor:
            let floor = try NIOClient(server, .boringSSL)
            return { try await floor.get() }
        case .foundationDelegate:
            return Self.counting(.default, url)
        case .latchkeyDelegate:
            return Self.counting(.latchkey(policy: ConnectionPolicy(), trust: try server.ownTrust), url)
        case .foundationFile:
            let session = URLSession(configuration: .default)
            return {
                let (file, _) = try await session.download(from: url)
                return try Self.lengthOfRemoved(file)
            }
        case .latchkeyFile:
            let session = LatchkeySession(trust: try server.ownTrust)
            let file = URL(fileURLWithPath: directory).appendingPathComponent("download")
            return {
                _ = try await session.download(for: URLRequest(url: url), to: file)
                return try Self.lengthOfRemoved(file)
            }
        }
    }

    private static func counting(_ configuration: URLSessionConfiguration, _ url: URL)
        -> @Sendable () async throws
        -> Int
    {
        let delegate = CountingDelegate()
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        return { try await delegate.count(session.dataTask(with: url)) }
    }

    private static func lengthOfRemoved(_ file: URL) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        try FileManager.default.removeItem(at: file)
        return attributes[.size] as? Int ?? 0
    }
}

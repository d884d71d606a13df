// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import NIOSSL

/// The contexts of BoringSSL for the configurations that were used last. A context costs more than
/// the evaluation of a chain, and is the same for every connection with the same configuration.
final class TLSContexts: Sendable {
    static let shared = TLSContexts()

    private struct Entry {
        let configuration: TLSConfiguration
        let context: NIOSSLContext
    }

    /// The last used first.
    private let entries = SystemMutex<[Entry]>([])
    private static let maxEntries = 16

    func context(_ configuration: TLSConfiguration) throws -> NIOSSLContext {
        let kept = entries.withLock { entries -> NIOSSLContext? in
            guard let index = entries.firstIndex(where: { $0.configuration.bestEffortEquals(configuration) }) else {
                return nil
            }
            let entry = entries.remove(at: index)
            entries.insert(entry, at: 0)
            return entry.context
        }
        if let kept { return kept }
        let context = try NIOSSLContext(configuration: configuration)
        entries.withLock { entries in
            entries.insert(Entry(configuration: configuration, context: context), at: 0)
            if entries.count > Self.maxEntries { entries.removeLast() }
        }
        return context
    }
}

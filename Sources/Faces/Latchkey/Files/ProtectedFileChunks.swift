// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import KeychainModel
internal import LatchkeyClient

/// The content of a protected file in parts of 64 KiB, for tasks.
///
/// ```swift
/// for try await part in file.chunks() { … }
/// ```
public struct ProtectedFileChunks: AsyncSequence, AsyncIteratorProtocol, Sendable {
    private let file: ProtectedFile
    private var position: UInt64

    init(file: ProtectedFile, position: UInt64) { (self.file, self.position) = (file, position) }

    /// Returns an iterator that begins where this value does.
    public func makeAsyncIterator() -> ProtectedFileChunks { self }

    /// Returns the next part; nil at the end.
    public mutating func next() async throws(KeychainError) -> Data? {
        let (file, start) = (file, position)
        let part = try await KeychainClient.perform { () throws(KeychainError) in
            try file.read(at: start, count: Self.length)
        }
        position += UInt64(part.count)
        return part.isEmpty ? nil : part
    }

    private static let length = 65_536
}

extension ProtectedFile {
    /// Returns the content from `offset` on, in parts.
    public func chunks(from offset: UInt64 = 0) -> ProtectedFileChunks {
        ProtectedFileChunks(file: self, position: offset)
    }
}

// SPDX-License-Identifier: Apache-2.0

/// A search token: 16 bytes that the database holds in place of a searchable value. Only the index
/// key yields it.
public struct SearchToken: Hashable, Sendable, BitwiseCopyable {
    private let words: (UInt64, UInt64)

    /// The length of a token in bytes.
    public static let byteCount = 16

    /// Reads a stored token; nil unless there are 16 bytes.
    public init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.byteCount else { return nil }
        words = (
            bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        )
    }

    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try Swift.withUnsafeBytes(of: words) { (bytes) throws(Failure) in try body(bytes) }
    }

    public static func == (one: SearchToken, other: SearchToken) -> Bool { one.words == other.words }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
    }
}

extension [UInt8] {
    public mutating func append(_ token: SearchToken) {
        token.withUnsafeBytes { append(contentsOf: $0) }
    }
}

// SPDX-License-Identifier: Apache-2.0

/// Reads big-endian numbers and byte strings one after another.
///
/// Nothing past the end is read: a field that is not complete is nil, and the reader stays before it. Bytes that
/// are borrowed, such as secrets, are read where they are, and not copied.
public struct FieldReader<Bytes: RandomAccessCollection<UInt8>> where Bytes.SubSequence == Bytes {
    /// The bytes that were not read yet.
    @inlinable public var rest: Bytes { unread }

    @usableFromInline var unread: Bytes

    @inlinable public init(_ bytes: Bytes) { unread = bytes }

    /// The number of bytes that were not read yet.
    @inlinable public var remaining: Int { rest.count }

    @inlinable public var isAtEnd: Bool { rest.isEmpty }

    /// Reads a number with as many bytes as the type has.
    @inlinable public mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number? {
        bytes(Number.bitWidth / 8)?.reduce(0) { ($0 &<< 8) | Number(truncatingIfNeeded: $1) }
    }

    /// Reads a number with `width` bytes; nil as well if it does not fit into 64 bits.
    @inlinable public mutating func number(width: Int) -> UInt64? {
        bytes(width).flatMap { UInt64(bigEndianBytes: $0) }
    }

    /// Reads `count` bytes; nil if there are fewer, or if the count is negative.
    @inlinable public mutating func bytes(_ count: Int) -> Bytes? {
        guard count >= 0, unread.count >= count else { return nil }
        defer { unread = unread.dropFirst(count) }
        return unread.prefix(count)
    }
}

extension FieldReader<ArraySlice<UInt8>> {
    @inlinable public init(_ bytes: [UInt8]) { self.init(bytes[...]) }

    /// Reads `count` bytes; nil as ``bytes(_:)``.
    @inlinable public mutating func array(_ count: Int) -> [UInt8]? { bytes(count).map { Array($0) } }
}

extension FieldReader<Slice<UnsafeRawBufferPointer>> {
    @inlinable public init(_ bytes: UnsafeRawBufferPointer) { self.init(bytes[...]) }

    /// Reads `count` bytes, valid as long as all bytes of the reader; nil as ``bytes(_:)``.
    @inlinable public mutating func memory(_ count: Int) -> UnsafeRawBufferPointer? {
        bytes(count).map { UnsafeRawBufferPointer(rebasing: $0) }
    }
}

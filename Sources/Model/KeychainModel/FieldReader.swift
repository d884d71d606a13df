// SPDX-License-Identifier: Apache-2.0

/// Reads big-endian numbers and byte strings one after another. Nothing past the end is read: a field
/// that is not complete is nil.
package struct FieldReader {
    private let all: ArraySlice<UInt8>
    private var position: Int

    package init(_ bytes: [UInt8]) { self.init(bytes[...]) }

    package init(_ bytes: ArraySlice<UInt8>) {
        all = bytes
        position = bytes.startIndex
    }

    /// The number of bytes that were not read yet.
    package var remaining: Int { all.endIndex - position }

    package mutating func number<Number: FixedWidthInteger & UnsignedInteger>(
        _ type: Number.Type = Number.self
    ) -> Number? {
        bytes(Number.bitWidth / 8)?.reduce(0) { ($0 &<< 8) | Number($1) }
    }

    package mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, remaining >= count else { return nil }
        defer { position += count }
        return all[position..<position + count]
    }
}

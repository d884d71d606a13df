// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// Appends big-endian numbers and length-prefixed bytes.
struct KeybagWriter {
    private(set) var bytes: [UInt8] = []

    mutating func put(_ number: some FixedWidthInteger) {
        bytes.append(bigEndian: number)
    }

    /// Appends 1 or 0.
    mutating func put(_ flag: Bool) {
        bytes.append(flag ? 1 : 0)
    }

    /// Appends a 16-bit length and the bytes.
    mutating func put(bytes more: [UInt8]) {
        put(UInt16(more.count))
        bytes.append(contentsOf: more)
    }
}

/// Reads what ``KeybagWriter`` has written. Any bytes are either read or rejected with an error.
struct KeybagReader {
    private let all: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        all = bytes
    }

    var isAtEnd: Bool { position == all.count }

    mutating func number<Number: FixedWidthInteger>(_ name: String) throws(KeybagError) -> Number {
        let width = Number.bitWidth / 8
        guard all.count - position >= width else { throw .damaged("it ends before the \(name)") }
        defer { position += width }
        return all[position..<position + width].reduce(0) { ($0 &<< 8) | Number($1) }
    }

    mutating func bytes(_ name: String, counts: ClosedRange<Int>) throws(KeybagError) -> [UInt8] {
        let count = Int(try number("length of the \(name)") as UInt16)
        guard counts.contains(count) else {
            throw .damaged("the \(name) has \(count) bytes, expected \(counts.lowerBound) to \(counts.upperBound)")
        }
        guard all.count - position >= count else { throw .damaged("it ends within the \(name)") }
        defer { position += count }
        return Array(all[position..<position + count])
    }
}

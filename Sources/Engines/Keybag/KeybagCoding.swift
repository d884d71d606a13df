// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

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

/// Reads the fields that ``KeybagWriter`` has written. Any bytes are either read or rejected with an error.
struct KeybagReader {
    private var fields: FieldReader<ArraySlice<UInt8>>

    init(_ bytes: [UInt8]) {
        fields = FieldReader(bytes)
    }

    var isAtEnd: Bool { fields.isAtEnd }

    mutating func number<Number: FixedWidthInteger>(_ name: String) throws(KeybagError) -> Number {
        guard let number: Number = fields.number() else { throw .damaged("it ends before the \(name)") }
        return number
    }

    mutating func bytes(_ name: String, counts: ClosedRange<Int>) throws(KeybagError) -> [UInt8] {
        let count = Int(try number("length of the \(name)") as UInt16)
        guard counts.contains(count) else {
            throw .damaged("the \(name) has \(count) bytes, expected \(counts.lowerBound) to \(counts.upperBound)")
        }
        guard let bytes = fields.array(count) else { throw .damaged("it ends within the \(name)") }
        return bytes
    }
}

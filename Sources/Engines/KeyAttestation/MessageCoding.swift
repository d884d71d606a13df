// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// Reads big-endian numbers and bytes with a length, as TPMs and our messages have them.
struct MessageReader {
    private var fields: FieldReader<ArraySlice<UInt8>>
    private let name: String

    /// - Parameter name: the name of the data, for errors.
    init(_ bytes: [UInt8], _ name: String) { (fields, self.name) = (FieldReader(bytes), name) }

    mutating func bytes(_ count: Int) throws(AttestationError) -> [UInt8] {
        guard let bytes = fields.array(count) else { throw .malformed("the \(name) ends early") }
        return bytes
    }

    mutating func number<Number: FixedWidthInteger>() throws(AttestationError) -> Number {
        guard let number: Number = fields.number() else { throw .malformed("the \(name) ends early") }
        return number
    }

    /// Bytes after their length of 16 bits (`TPM2B_…`).
    mutating func field(_ field: String, counts: ClosedRange<Int>) throws(AttestationError) -> [UInt8] {
        let count = Int(try number() as UInt16)
        guard counts.contains(count) else {
            throw .malformed(
                "the \(field) of the \(name) has \(count) bytes, expected \(counts.lowerBound) to \(counts.upperBound)")
        }
        return try bytes(count)
    }

    /// - Throws: ``AttestationError/malformed(_:)`` unless the next number is this one.
    mutating func require<Number: FixedWidthInteger>(
        _ expected: Number, _ field: String
    ) throws(AttestationError) {
        let found: Number = try number()
        guard found == expected else {
            throw .malformed("the \(field) of the \(name) is \(found), expected \(expected)")
        }
    }

    func requireEnd() throws(AttestationError) {
        guard fields.isAtEnd else { throw .malformed("unexpected bytes after the \(name)") }
    }
}

/// Writes messages for ``MessageReader``.
struct MessageWriter {
    private(set) var bytes: [UInt8]

    init(_ magic: [UInt8] = []) { bytes = magic }

    mutating func put(field: [UInt8]) {
        bytes += UInt16(clamping: field.count).bigEndianBytes
        bytes += field
    }

    mutating func put(_ number: UInt8) { bytes.append(number) }
}

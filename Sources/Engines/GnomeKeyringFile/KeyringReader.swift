// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// Reads big-endian numbers, and bytes after their length. Any bytes are either read or refused with an error.
struct KeyringReader {
    private var fields: FieldReader<Slice<UnsafeRawBufferPointer>>

    init(_ bytes: UnsafeRawBufferPointer) {
        fields = FieldReader(bytes)
    }

    mutating func bytes(_ name: String, count: Int) throws(GnomeKeyringError) -> UnsafeRawBufferPointer {
        guard let bytes = fields.memory(count) else { throw .damaged("it ends within the \(name)") }
        return bytes
    }

    mutating func number<Number: FixedWidthInteger>(
        _ name: String, _ type: Number.Type = UInt32.self
    ) throws(GnomeKeyringError) -> Number {
        guard let number: Number = fields.number() else { throw .damaged("it ends within the \(name)") }
        return number
    }

    /// Seconds since 1970, in 64 bits.
    mutating func time(_ name: String) throws(GnomeKeyringError) -> UInt64 {
        try number(name, UInt64.self)
    }

    /// Reads bytes after their length; nil for none, in contrast to empty ones.
    mutating func counted(_ name: String) throws(GnomeKeyringError) -> UnsafeRawBufferPointer? {
        let count = try number("length of the \(name)")
        guard count != .max else { return nil }
        return try bytes(name, count: Int(count))
    }

    /// UTF-8 without a zero byte, after its length; nil for none.
    mutating func text(_ name: String) throws(GnomeKeyringError) -> String? {
        guard let bytes = try counted(name) else { return nil }
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            throw .damaged("the \(name) is not text in UTF-8")
        }
        return text
    }

    mutating func skipNumbers(_ count: Int, _ name: String) throws(GnomeKeyringError) {
        for _ in 0..<count { _ = try number(name) }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import SecretMemory

/// A DER `SEQUENCE` of non-negative `INTEGER`s: keys of PKCS #1, and ECDSA signatures. Only DER is
/// accepted.
struct DERNumbers {
    private var rest: UnsafeRawBufferPointer

    /// Reads a `SEQUENCE` that spans all bytes; nil if it does not.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        guard let content = Self.element(0x30, &rest), rest.isEmpty else { return nil }
        self.rest = content
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Returns the next number, big-endian and without leading zeros; empty for 0. Returns nil if
    /// the next element is not a number, or is negative.
    mutating func next() -> UnsafeRawBufferPointer? {
        guard let content = Self.element(0x02, &rest), let first = content.first, first < 0x80 else { return nil }
        guard first == 0 else { return content }
        let number = UnsafeRawBufferPointer(rebasing: content.dropFirst())
        // A leading zero is allowed only if the number would otherwise be negative.
        guard number.isEmpty || number[0] >= 0x80 else { return nil }
        return number
    }

    /// Returns exactly `count` numbers; nil if there are fewer or more.
    static func all(_ count: Int, in bytes: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer]? {
        guard var numbers = DERNumbers(bytes) else { return nil }
        var all: [UnsafeRawBufferPointer] = []
        for _ in 0..<count {
            guard let number = numbers.next() else { return nil }
            all.append(number)
        }
        return numbers.isAtEnd ? all : nil
    }

    /// Returns the content of the element at the start of `rest`, and moves `rest` behind it;
    /// returns nil if the tag differs or the length is not in DER.
    static func element(_ tag: UInt8, _ rest: inout UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard rest.count >= 2, rest[0] == tag else { return nil }
        var (start, length) = (2, Int(rest[1]))
        if length >= 0x80 {
            let count = length & 0x7F
            guard 1...4 ~= count, rest.count >= 2 + count, rest[2] != 0,
                let long = Int(bigEndianBytes: rest[2..<2 + count]), long >= 0x80
            else { return nil }
            length = long
            start += count
        }
        guard rest.count - start >= length else { return nil }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[(start + length)...]) }
        return UnsafeRawBufferPointer(rebasing: rest[start..<start + length])
    }

    // MARK: Writing

    /// Returns the `SEQUENCE` of these numbers. They are big-endian, with or without leading zeros.
    static func encoded(_ numbers: [UnsafeRawBufferPointer]) -> SecretBytes {
        let trimmed = numbers.map { number in UnsafeRawBufferPointer(rebasing: number.drop { $0 == 0 }) }
        let lengths = trimmed.map { max(1, $0.count + (($0.first ?? 0) >= 0x80 ? 1 : 0)) }
        let content = lengths.reduce(0) { $0 + header(0x02, $1).count + $1 }
        let start = header(0x30, content)
        return SecretBytes(count: start.count + content) { buffer in
            var rest = buffer[...]
            func write(_ bytes: some Collection<UInt8>) {
                UnsafeMutableRawBufferPointer(rebasing: rest.prefix(bytes.count)).copyBytes(from: bytes)
                rest = rest.dropFirst(bytes.count)
            }
            write(start)
            for (number, length) in zip(trimmed, lengths) {
                write(header(0x02, length))
                // Memory that is not written is zero.
                rest = rest.dropFirst(length - number.count)
                write(number)
            }
        }
    }

    private static func header(_ tag: UInt8, _ length: Int) -> [UInt8] {
        guard length >= 0x80 else { return [tag, UInt8(length)] }
        var bytes: [UInt8] = []
        var rest = length
        while rest > 0 {
            bytes.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(bytes.count)] + bytes
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

/// A DER `SEQUENCE` of `INTEGER`s that are not negative: keys of PKCS #1, and signatures of ECDSA. Anything but their one DER form is refused.
struct DERNumbers {
    private var rest: UnsafeRawBufferPointer

    /// Reads one `SEQUENCE` that fills the bytes.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        guard let content = Self.element(0x30, &rest), rest.isEmpty else { return nil }
        self.rest = content
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// The next number, big-endian and without zeros in front: nothing for 0. Nil where it is none, or is negative.
    mutating func next() -> UnsafeRawBufferPointer? {
        guard let content = Self.element(0x02, &rest), let first = content.first, first < 0x80 else { return nil }
        guard first == 0 else { return content }
        let number = UnsafeRawBufferPointer(rebasing: content.dropFirst())
        // A zero stands in front of a number only where that would be taken for a negative one.
        guard number.isEmpty || number[0] >= 0x80 else { return nil }
        return number
    }

    /// Exactly `count` numbers; nil where there are fewer or more.
    static func all(_ count: Int, in bytes: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer]? {
        guard var numbers = DERNumbers(bytes) else { return nil }
        var all: [UnsafeRawBufferPointer] = []
        for _ in 0..<count {
            guard let number = numbers.next() else { return nil }
            all.append(number)
        }
        return numbers.isAtEnd ? all : nil
    }

    /// The content of the element at the start of `rest`, which is moved behind it; nil where the tag is another or the length is not in its one DER form.
    static func element(_ tag: UInt8, _ rest: inout UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard rest.count >= 2, rest[0] == tag else { return nil }
        var (start, length) = (2, Int(rest[1]))
        if length >= 0x80 {
            let count = length & 0x7F
            guard 1...4 ~= count, rest.count >= 2 + count, rest[2] != 0 else { return nil }
            length = rest[2..<2 + count].reduce(0) { $0 << 8 | Int($1) }
            guard length >= 0x80 else { return nil }
            start += count
        }
        guard rest.count - start >= length else { return nil }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[(start + length)...]) }
        return UnsafeRawBufferPointer(rebasing: rest[start..<start + length])
    }

    // MARK: Writing

    /// The `SEQUENCE` of these numbers, big-endian with or without zeros in front.
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
                // The memory is zero where nothing is written.
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

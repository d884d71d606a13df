// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// Text of a line of the log, as bytes. A line is written for each lookup, and composing it from
/// strings costs as much as the lookup's cryptography.
struct AuditText {
    private(set) var bytes: [UInt8]

    /// - Parameter start: the first bytes.
    init(_ start: [UInt8] = []) {
        bytes = start
        bytes.reserveCapacity(start.count + 512)
    }

    /// Appends a constant text.
    mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ more: [UInt8]) { bytes += more }

    /// Appends a text as it is: the caller has escaped it.
    mutating func append(escaped text: String) {
        var text = text
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    /// Appends a number in decimal digits, with zeros before it up to `digits`.
    mutating func append(_ number: some FixedWidthInteger, digits: Int = 1) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        var rest = UInt64(clamping: number.magnitude)
        let start = bytes.count
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0 || bytes.count - start < digits
        bytes[start...].reverse()
    }

    mutating func append(hexadecimal other: some Sequence<UInt8>) {
        for byte in other {
            bytes.append(Hexadecimal.digit(byte >> 4))
            bytes.append(Hexadecimal.digit(byte))
        }
    }

    // MARK: Members of the JSON object

    /// Appends `,"KEY":NUMBER`.
    mutating func append(_ key: StaticString, number: some FixedWidthInteger) {
        append(key: key)
        append(number)
    }

    /// Appends `,"KEY":"TEXT"` with a text that needs no escapes.
    mutating func append(_ key: StaticString, text: String) {
        append(key: key)
        append("\"")
        append(escaped: text)
        append("\"")
    }

    /// Appends `,"KEY":"TIME"`.
    ///
    /// - Parameter time: seconds since 2001.
    mutating func append(_ key: StaticString, time: Double) {
        append(key: key)
        append("\"")
        append(time: time)
        append("\"")
    }

    /// Appends `,"KEY":"…"`, and `KEYBytes` and `KEYDigest` if the name was truncated.
    mutating func append(_ key: StaticString, name: AuditName) {
        append(key, text: name.escaped)
        guard let original = name.original else { return }
        append(",\"")
        append(key)
        append("Bytes\":")
        append(original.length)
        append(",\"")
        append(key)
        append("Digest\":\"")
        append(escaped: original.digest)
        append("\"")
    }

    private mutating func append(key: StaticString) {
        append(",\"")
        append(key)
        append("\":")
    }
}

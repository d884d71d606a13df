// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// A line of the log: a body, then `,"mac":"…"}` with the code that covers the body.
struct AuditLine {
    let bytes: [UInt8]
    /// Whether the line ends with a code.
    private let hasCode: Bool

    init(body: [UInt8], code: [UInt8]) {
        var text = AuditText(body)
        text.append(Self.codePrefix)
        text.append(hexadecimal: code)
        text.append(Self.end)
        bytes = text.bytes
        hasCode = true
    }

    /// Parses a line, given without its line break.
    init(_ bytes: some Collection<UInt8>) {
        self.bytes = Array(bytes)
        let tail = self.bytes.suffix(Self.emptyTail.count)
        hasCode =
            self.bytes.count > Self.emptyTail.count && tail.starts(with: Self.codePrefix)
            && tail.suffix(Self.end.count).elementsEqual(Self.end)
    }

    /// The maximum length of a body, in bytes: two names of 256 bytes and their digests, three
    /// times, and the fixed members.
    static let maxBodyLength = 1536

    // MARK: Parts

    /// The bytes that the code covers; nil if the line is not a line of the log.
    var body: [UInt8]? { hasCode ? Array(bytes.dropLast(Self.emptyTail.count)) : nil }

    /// The code of the line: 32 bytes.
    var code: [UInt8]? {
        guard hasCode else { return nil }
        return Hexadecimal.bytes(bytes.dropLast(Self.end.count).suffix(64))
    }

    /// The number of the line, its first member.
    var sequence: UInt64? {
        let prefix = Array("{\"sequence\":".utf8)
        guard bytes.starts(with: prefix) else { return nil }
        return UInt64(
            String(decoding: bytes.dropFirst(prefix.count).prefix { (0x30...0x39).contains($0) }, as: UTF8.self))
    }

    /// The time of the line, in seconds since 1970; nil if it has none.
    var time: Double? { time("time") }

    // MARK: Members

    /// Returns the string of a member, with its escapes; nil if there is no such member.
    func string(_ name: String) -> String? {
        guard let value = value(of: name), value.first == UInt8(ascii: "\"") else { return nil }
        var isEscaped = false
        let content = value.dropFirst().prefix { byte in
            defer { isEscaped = !isEscaped && byte == UInt8(ascii: "\\") }
            return isEscaped || byte != UInt8(ascii: "\"")
        }
        return String(decoding: content, as: UTF8.self)
    }

    /// Returns the number of a member; nil if there is no such member.
    func number<Number: FixedWidthInteger>(_ name: String) -> Number? {
        guard let value = value(of: name) else { return nil }
        let digits = value.prefix { (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
        return Number(String(decoding: digits, as: UTF8.self))
    }

    /// Returns the time of a member, in seconds since 1970.
    func time(_ name: String) -> Double? { string(name).flatMap(AuditTime.seconds) }

    /// Returns the code in a member of a gap: 32 bytes.
    func code(_ name: String) -> [UInt8]? {
        guard let text = string(name), text.utf8.count == 64 else { return nil }
        return Hexadecimal.bytes(text.utf8)
    }

    /// Returns the line from the value of a member on. Quotation marks inside strings are escaped,
    /// so that the pattern cannot match inside a name.
    private func value(of member: String) -> ArraySlice<UInt8>? {
        let pattern = Array(",\"\(member)\":".utf8)
        var rest = ArraySlice(bytes)
        while true {
            rest = rest.drop { $0 != UInt8(ascii: ",") }
            guard !rest.isEmpty else { return nil }
            if rest.starts(with: pattern) { return rest.dropFirst(pattern.count) }
            rest = rest.dropFirst()
        }
    }

    private static let codePrefix = Array(",\"mac\":\"".utf8)
    private static let end = Array("\"}".utf8)
    /// The end of a line, with a code of zeros.
    private static let emptyTail = codePrefix + [UInt8](repeating: UInt8(ascii: "0"), count: 64) + end
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel

/// A line of the log as text. Its body is what the code covers: everything before `,"mac":"…"}`.
struct AuditLine {
    let bytes: [UInt8]

    /// The line of an entry, without its end.
    static func body(_ entry: AuditEntry, sequence: UInt64, time: Double) -> [UInt8] {
        var text = "{\"sequence\":\(sequence),\"time\":\"\(timestamp(time))\""
        if let process = entry.caller.process { text += ",\"user\":\(process.user),\"process\":\(process.process)" }
        text +=
            ",\"program\":\(quoted(shortened(entry.caller.executable))),\"grade\":\"\(entry.caller.grade)\",\"operation\":\"\(entry.operation)\""
        if let itemClass = entry.itemClass { text += ",\"class\":\"\(itemClass.rawValue)\"" }
        if let group = entry.group { text += ",\"group\":\(quoted(shortened(group.name))),\"groupGrade\":\"\(group.grade)\"" }
        text += ",\"count\":\(entry.count),\"status\":\(entry.status.rawValue)"
        return Array(text.utf8)
    }

    init(body: [UInt8], code: [UInt8]) {
        bytes = body + Self.mark + code.flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] } + Self.end
    }

    /// A line as it was found.
    init(_ bytes: some Collection<UInt8>) {
        self.bytes = Array(bytes)
    }

    /// What the code covers; nil where the line is no line of the log.
    var body: [UInt8]? {
        let length = bytes.count - Self.tailLength
        guard length > 0, bytes[length...].starts(with: Self.mark), bytes.suffix(2) == Self.end[...] else { return nil }
        return Array(bytes.prefix(length))
    }

    /// The code that stands in the line.
    var code: [UInt8]? {
        guard body != nil else { return nil }
        let text = bytes.dropLast(Self.end.count).suffix(64)
        var code: [UInt8] = []
        var high: UInt8?
        for character in text {
            guard let value = Self.digits.firstIndex(of: character).map(UInt8.init) else { return nil }
            if let first = high {
                code.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return code
    }

    /// The number of the line, which stands first.
    var sequence: UInt64? {
        let prefix = Array("{\"sequence\":".utf8)
        guard bytes.starts(with: prefix) else { return nil }
        return UInt64(String(decoding: bytes.dropFirst(prefix.count).prefix { (0x30...0x39).contains($0) }, as: UTF8.self))
    }

    /// The time of the line, in seconds since 1970; nil where it has none.
    var time: Double? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let start = text.firstRange(of: "\"time\":\"")?.upperBound else { return nil }
        return Self.seconds(text[start...].prefix { $0 != "\"" })
    }

    // MARK: Text

    /// `2026-11-21T12:00:00.000Z`, from seconds since 2001.
    static func timestamp(_ time: Double) -> String {
        let milliseconds = Int64((time + Double(Clocks.secondsBetweenEpochs)) * 1000)
        var seconds = time_t(milliseconds / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func digits(_ number: some BinaryInteger, _ count: Int) -> String {
            let text = "\(number)"
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let date = "\(digits(parts.tm_year + 1900, 4))-\(digits(parts.tm_mon + 1, 2))-\(digits(parts.tm_mday, 2))"
        return
            "\(date)T\(digits(parts.tm_hour, 2)):\(digits(parts.tm_min, 2)):\(digits(parts.tm_sec, 2)).\(digits(milliseconds % 1000, 3))Z"
    }

    /// Seconds since 1970 of such a text.
    private static func seconds(_ text: some StringProtocol) -> Double? {
        let fields = text.split { !$0.isNumber }.compactMap { Int32($0) }
        guard fields.count == 7 else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (fields[0] - 1900, fields[1] - 1, fields[2])
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (fields[3], fields[4], fields[5])
        return Double(timegm(&parts)) + Double(fields[6]) / 1000
    }

    /// A name as far as a line has room for it.
    private static func shortened(_ name: String) -> String {
        name.unicodeScalars.count <= greatestName ? name : String(String.UnicodeScalarView(name.unicodeScalars.prefix(greatestName))) + "…"
    }

    private static let greatestName = 4096

    /// A string of JSON (RFC 8259 §7). Names come from outside, and may hold anything.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}":
                let hexadecimal = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    private static let digits = Array("0123456789abcdef".utf8)
    private static let mark = Array(",\"mac\":\"".utf8)
    private static let end = Array("\"}".utf8)
    private static let tailLength = mark.count + 64 + end.count
}

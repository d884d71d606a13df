// SPDX-License-Identifier: Apache-2.0

/// The bytes of a message in little-endian order, as libsystemd sends it: the parts of the D-Bus specification,
/// "Message Format", that tests need. Only messages of libsystemd are read, so nothing is checked.
struct RawMessage {
    enum Kind: UInt8 { case call = 1, answer, error, signal }

    let bytes: [UInt8]
    /// The texts and numbers in the header, by the codes of the fields.
    private var texts: [UInt8: String] = [:]
    private var numbers: [UInt8: UInt32] = [:]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var position = 16
        while position < 16 + Self.number(bytes, at: 12) {
            let (code, type) = (bytes[position], bytes[position + 2])
            position += 4
            if type == UInt8(ascii: "u") {
                numbers[code] = UInt32(Self.number(bytes, at: position))
                position += 4
            } else {
                // The length of a signature has one byte.
                let isShort = type == UInt8(ascii: "g")
                let count = isShort ? Int(bytes[position]) : Self.number(bytes, at: position)
                position += isShort ? 1 : 4
                texts[code] = String(decoding: bytes[position..<position + count], as: UTF8.self)
                position += count + 1
            }
            position = (position + 7) / 8 * 8
        }
    }

    var kind: Kind? { Kind(rawValue: bytes[1]) }
    var member: String? { texts[3] }
    var errorName: String? { texts[4] }
    var answeredNumber: UInt32 { numbers[5] ?? 0 }

    /// The first text of the content.
    var text: String {
        let start = Self.headerLength(of: bytes)
        return String(decoding: bytes[(start + 4)...].prefix(Self.number(bytes, at: start)), as: UTF8.self)
    }

    // MARK: Writing

    /// A call of a method of an object, as a bus delivers it.
    static func call(
        _ member: String = "Wait", from sender: String, at path: String = "/a", number: UInt32, signature: String = "",
        _ content: [UInt8] = []
    ) -> [UInt8] {
        // Without a destination, the call would be a broadcast, and no object answers a broadcast.
        var fields = [
            field(1, "o", text(path)), field(3, "s", text(member)), field(6, "s", text(":1.1")),
            field(7, "s", text(sender)),
        ]
        if !signature.isEmpty { fields.append(field(8, "g", shortText(signature))) }
        return message(.call, number: number, fields, content)
    }

    /// A call of a method of an object of `destination`, as a program sends it to the bus.
    static func call(
        _ interface: String, _ member: String, at path: String, of destination: String, number: UInt32,
        signature: String = "", _ content: [UInt8] = []
    ) -> [UInt8] {
        var fields = [
            field(1, "o", text(path)), field(2, "s", text(interface)), field(3, "s", text(member)),
            field(6, "s", text(destination)),
        ]
        if !signature.isEmpty { fields.append(field(8, "g", shortText(signature))) }
        return message(.call, number: number, fields, content)
    }

    /// The answer of a bus to a call.
    static func answer(to call: RawMessage, signature: String, _ content: [UInt8]) -> [UInt8] {
        let fields = [field(5, "u", Array(call.bytes[8..<12])), field(8, "g", shortText(signature))]
        return message(.answer, number: 1, fields, content)
    }

    static func answer(to call: RawMessage, error: String) -> [UInt8] {
        message(.error, number: 1, [field(4, "s", text(error)), field(5, "u", Array(call.bytes[8..<12]))], [])
    }

    /// The content of a text.
    static func text(_ text: String) -> [UInt8] { little(UInt32(text.utf8.count)) + Array(text.utf8) + [0] }

    /// The content of an array of bytes.
    static func bytes(count: Int) -> [UInt8] { little(UInt32(count)) + [UInt8](repeating: 1, count: count) }

    /// The content of a dictionary of variants that are numbers.
    static func dictionary(_ entries: [(name: String, number: UInt32)]) -> [UInt8] {
        let content = entries.reduce([UInt8]()) { bytes, entry in
            let named = padded(bytes) + text(entry.name) + shortText("u")
            return named + [UInt8](repeating: 0, count: (4 - named.count % 4) % 4) + little(entry.number)
        }
        // The entries begin at a multiple of eight.
        return little(UInt32(content.count)) + [0, 0, 0, 0] + content
    }

    static func little(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }

    private static func shortText(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + Array(text.utf8) + [0] }

    private static func message(_ kind: Kind, number: UInt32, _ fields: [[UInt8]], _ content: [UInt8]) -> [UInt8] {
        let start: [UInt8] = [UInt8(ascii: "l"), kind.rawValue, 0, 1]
        // The padding of the last field is not part of the length.
        let all = fields.reduce([]) { padded($0) + $1 }
        let lengths = little(UInt32(content.count)) + little(number) + little(UInt32(all.count))
        return start + lengths + padded(all) + content
    }

    private static func field(_ code: UInt8, _ type: Unicode.Scalar, _ value: [UInt8]) -> [UInt8] {
        [code, 1, UInt8(ascii: type), 0] + value
    }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (8 - bytes.count % 8) % 8)
    }

    // MARK: Reading

    /// The length of the header, with its padding.
    static func headerLength(of message: [UInt8]) -> Int { 16 + (number(message, at: 12) + 7) / 8 * 8 }

    static func number(_ bytes: [UInt8], at position: Int) -> Int {
        (0..<4).reduce(0) { $0 | Int(bytes[position + $1]) << (8 * $1) }
    }
}

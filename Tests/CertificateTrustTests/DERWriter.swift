// SPDX-License-Identifier: Apache-2.0

/// Writes DER elements without checks, so that tests can write invalid ones.
enum DERWriter {
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
        var digits: [UInt8] = []
        var length = content.count
        while length > 0 {
            digits.insert(UInt8(length & 0xFF), at: 0)
            length >>= 8
        }
        return [tag, 0x80 | UInt8(digits.count)] + digits + content
    }

    static func sequence(_ members: [UInt8]...) -> [UInt8] { element(0x30, members.flatMap { $0 }) }
    static func set(_ members: [UInt8]...) -> [UInt8] { element(0x31, members.flatMap { $0 }) }
    static func explicit(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { element(0xA0 | tag, content) }
    static func implicit(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { element(0x80 | tag, content) }
    static func octets(_ content: [UInt8]) -> [UInt8] { element(0x04, content) }
    static func bits(_ content: [UInt8], unused: UInt8 = 0) -> [UInt8] { element(0x03, [unused] + content) }
    static func boolean(_ value: Bool) -> [UInt8] { element(0x01, [value ? 0xFF : 0]) }
    static func utf8(_ text: String) -> [UInt8] { element(0x0C, Array(text.utf8)) }

    static func integer(_ value: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = value
        repeat {
            bytes.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        } while rest != 0 && rest != -1
        if value >= 0, bytes[0] >= 0x80 { bytes.insert(0, at: 0) }
        if value < 0, bytes[0] < 0x80 { bytes.insert(0xFF, at: 0) }
        return element(0x02, bytes)
    }

    /// The object identifier with this dotted form.
    static func identifier(_ dotted: String) -> [UInt8] {
        let arcs = dotted.split(separator: ".").map { UInt64($0) ?? 0 }
        var content: [UInt8] = []
        for arc in [arcs[0] * 40 + arcs[1]] + arcs[2...] {
            var groups = [UInt8(arc & 0x7F)]
            var rest = arc >> 7
            while rest > 0 {
                groups.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
                rest >>= 7
            }
            content += groups
        }
        return element(0x06, content)
    }
}

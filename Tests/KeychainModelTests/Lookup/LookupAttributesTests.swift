// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import Testing

/// Documentation/Formats/keychain-database.md, "Lookup attributes".
@Suite("Lookup attributes")
struct LookupAttributesTests {
    static let maps: [[(name: String, value: String)]] = [
        [], [("a", "")], [("service", "example.com"), ("username", "alice")],
        [("b", "2"), ("a", "1"), ("aa", "3"), ("A", "4")],
        // Composed and decomposed text are different names.
        [("é", "1"), ("e\u{301}", "2")], [("xdg:schema", "🔑"), ("ü", "\u{1}\n")],
        [(String(repeating: "n", count: 256), String(repeating: "v", count: 16384))],
    ]

    @Test(
        "KDB-80: a map decodes to the same map, its encoding does not depend on the order of its names", arguments: maps
    )
    func roundTrip(_ pairs: [(name: String, value: String)]) throws {
        let attributes = try LookupAttributes(pairs)
        #expect(attributes.encoded.count == attributes.encodedLength)
        #expect(LookupAttributes(decoding: attributes.encoded) == attributes)
        #expect(try LookupAttributes(pairs.reversed()).encoded == attributes.encoded)
        #expect(attributes.entries.count == pairs.count)
        for pair in pairs { #expect(attributes[pair.name] == pair.value) }
    }

    @Test("KDB-80: a prefix of an encoding, one with another byte, and other orders do not decode, or are another map")
    func hostile() throws {
        let bytes = try LookupAttributes([("service", "example.com"), ("username", "alice")]).encoded
        for count in 1..<bytes.count {
            let prefix = Array(bytes.prefix(count))
            // The first entry alone is a map.
            if let decoded = LookupAttributes(decoding: prefix) { #expect(decoded.encoded == prefix && count == 22) }
        }
        for bit in 0..<bytes.count * 8 {
            var changed = bytes
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            if let decoded = LookupAttributes(decoding: changed) { #expect(decoded.encoded == changed) }
        }
        for _ in 0..<20_000 {
            let random = (0..<Int.random(in: 0..<40)).map { _ in UInt8.random(in: 0...8) }
            if let decoded = LookupAttributes(decoding: random) { #expect(decoded.encoded == random) }
        }
    }

    @Test(
        "KDB-80: an encoding with a name twice, out of order, empty, too long, with NUL or without UTF-8 is refused",
        arguments: [
            entry("a") + entry("a"), entry("b") + entry("a"), entry(""), [0, 1, 0x61, 0, 1, 0], [0, 1, 0, 0, 0],
            [0, 1, 0xFF, 0, 0], [0, 1, 0x61, 0, 1, 0xFF], entry(String(repeating: "n", count: 257)),
            entry("a", String(repeating: "v", count: 16385)), [0xFF, 0xFF], [0, 1, 0x61],
            (0..<65).flatMap { entry("name \($0 + 100)") },
            (0..<5).flatMap { entry("name \($0)", String(repeating: "v", count: 16000)) },
        ] as [[UInt8]])
    func refused(_ bytes: [UInt8]) {
        #expect(LookupAttributes(decoding: bytes) == nil)
    }

    static func entry(_ name: String, _ value: String = "") -> [UInt8] {
        [name, value].flatMap { text in
            [UInt8(text.utf8.count >> 8), UInt8(text.utf8.count & 0xFF)] + Array(text.utf8)
        }
    }

    @Test(
        "A forbidden entry of a map is refused with −50, an entry beyond the limits with −25302",
        arguments: [
            ([("", "v")], -50), ([("a", "1"), ("a", "2")], -50), ([("a\u{0}", "v")], -50), ([("a", "\u{0}")], -50),
            ([(String(repeating: "n", count: 257), "v")], -25302),
            ([("a", String(repeating: "v", count: 16385))], -25302),
            ((0..<65).map { ("\($0)", "") }, -25302),
            ((0..<5).map { ("\($0)", String(repeating: "v", count: 16000)) }, -25302),
        ] as [([(name: String, value: String)], Int32)])
    func invalid(_ pairs: [(name: String, value: String)], _ status: Int32) throws {
        let error = #expect(throws: KeychainError.self) { _ = try LookupAttributes(pairs) }
        #expect(error?.status.rawValue == status)
    }

    @Test("A map has every subset of its entries, and no entry with another byte")
    func subsets() throws {
        let whole = try LookupAttributes([("a", "1"), ("b", "2"), ("é", "3")])
        #expect(whole.contain(.empty) && whole.contain(whole))
        #expect(try whole.contain(LookupAttributes([("b", "2")])))
        #expect(try whole.contain(LookupAttributes([("é", "3"), ("a", "1")])))
        for other in [[("a", "2")], [("c", "1")], [("a", "1"), ("d", "")], [("e\u{301}", "3")]] {
            #expect(try !whole.contain(LookupAttributes(other.map { (name: $0.0, value: $0.1) })))
        }
        #expect(!LookupAttributes.empty.contain(whole))
    }

    @Test("A content type is kept as it is; an empty or long one, or one with control characters, is refused")
    func contentTypes() {
        #expect(ContentType("text/plain; charset=utf8")?.text == "text/plain; charset=utf8")
        for text in ["", "a\nb", "a\u{0}", "\u{7F}", String(repeating: "a", count: 257)] {
            #expect(ContentType(text) == nil)
        }
    }
}

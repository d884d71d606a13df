// SPDX-License-Identifier: Apache-2.0

import Foundation
import LinuxSystem
import Testing

/// Untrusted binary property lists. Foundation's writer determines the value of a well-formed list.
@Suite("Binary property lists")
struct BinaryPropertyListReaderTests {
    private func read(_ bytes: [UInt8]) throws(PropertyListError) -> PropertyListValue {
        try PropertyListReader.readAnyForm(bytes)
    }

    private static func written(_ value: Any) throws -> [UInt8] {
        Array(try PropertyListSerialization.data(fromPropertyList: value, format: .binary, options: 0))
    }

    /// A list with these objects, each with an offset of four bytes; the first is the value.
    private static func list(_ objects: [[UInt8]], count: Int? = nil, top: UInt8 = 0) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var table: [UInt8] = []
        for object in objects {
            table += (0..<4).reversed().map { UInt8(truncatingIfNeeded: bytes.count >> ($0 * 8)) }
            bytes += object
        }
        let start = bytes.count
        bytes += table + [0, 0, 0, 0, 0, 0, 4, 1]
        for number in [count ?? objects.count, Int(top), start] {
            bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
        return bytes
    }

    @Test("A binary list that Foundation has written is read with the same values as the list in XML")
    func foundation() throws {
        let value: [String: Any] = [
            "text": "plain", "wide": "a < b \u{E4} \u{1F600}\n", "number": Int64.min, "large": Int64.max, "small": 7,
            "real": -1.5, "yes": true, "no": false, "date": Date(timeIntervalSince1970: 951_782_399),
            "early": Date(timeIntervalSince1970: -11_676_096_000), "data": Data((0...255).map(UInt8.init)),
            "none": Data(), "list": ["a", ["b", [String: Any]()]] as [Any], "": "",
            "many": Array(repeating: "x", count: 300), "bytes": [255, 65_535, 4_294_967_295, -1],
        ]
        let xml = try PropertyListSerialization.data(fromPropertyList: value, format: .xml, options: 0)
        #expect(try read(Self.written(value)) == read(Array(xml)))
    }

    @Test(
        "Values that XML does not have are rejected",
        arguments: [
            ("null", [0x00]), ("UID", [0x80, 1]), ("set", [0xC0]), ("fill", [0x0F]),
            ("integer", [0x14, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
            ("above Int64", [0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0]),
            ("NaN", [0x23, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0]), ("late date", [0x33, 0x7F, 0xE0, 0, 0, 0, 0, 0, 0]),
            ("not ASCII", [0x51, 0xE4]), ("surrogate", [0x61, 0xD8, 0x00]), ("unknown", [0x70]),
            ("key", [0xD1, 0, 0]), ("long integer", [0x15]), ("long text", [0x5F, 0x13, 0x7F, 0xFF, 0xFF, 0xFF]),
            ("long data", [0x4F, 0x13, 0x80, 0, 0, 0, 0, 0, 0, 0]), ("cut off", [0x5A, 0x61]),
            ("missing object", [0xA1, 9]),
        ] as [(String, [UInt8])])
    func unsupported(_ name: String, _ object: [UInt8]) {
        #expect(throws: PropertyListError.self, "\(name)") { try read(Self.list([object])) }
    }

    @Test("Integers of 16 bytes are read if they fit")
    func wideInteger() throws {
        let digits: [UInt8] = Array(repeating: 0, count: 15) + [5]
        #expect(try read(Self.list([[0x14] + digits])) == .integer(5))
    }

    @Test("An object that contains itself, and one that is referenced many times, end at the limits")
    func references() throws {
        #expect(throws: PropertyListError.self) { try read(Self.list([[0xA1, 0]])) }
        #expect(throws: PropertyListError.self) { try read(Self.list([[0xD1, 1, 0], [0x51, 0x61]])) }
        // Each of eight lists contains the next one ten times.
        let levels = (0..<8).map { level in [0xAA] + Array(repeating: UInt8(level + 1), count: 10) }
        #expect(throws: PropertyListError.self) { try read(Self.list(levels + [[0x09]])) }
        // A text of 64 KiB, two hundred times in each of ten lists, would take 128 MiB.
        let text: [UInt8] = [0x5F, 0x12, 0, 1, 0, 0] + Array(repeating: 0x61, count: 65_536)
        let tens = (1...10).map { UInt8($0) }
        let middle: [[UInt8]] = tens.map { _ in [0xAF, 0x11, 0, 200] + Array(repeating: 11, count: 200) }
        let error = #expect(throws: PropertyListError.self) { try read(Self.list([[0xAA] + tens] + middle + [text])) }
        #expect(error?.problem.contains("bytes") == true)
    }

    @Test("Every truncation and every changed byte of a list is read or rejected")
    func damage() throws {
        let bytes = try Self.written(
            ["a": [1, 2.5, Date(timeIntervalSince1970: 0), Data([1]), "\u{E4}", true, ["b": "c"]] as [Any]])
        let value = try read(bytes)
        for length in bytes.indices {
            #expect(throws: PropertyListError.self) { try read(Array(bytes.prefix(length))) }
        }
        for position in bytes.indices {
            for change in [0x01, 0x0F, 0x10, 0x80, 0xFF] as [UInt8] {
                var damaged = bytes
                damaged[position] ^= change
                _ = try? read(damaged)
            }
        }
        #expect(try read(bytes) == value)
    }

    @Test("The counts and offsets at the end of a list are checked")
    func trailer() throws {
        #expect(try read(Self.list([[0x09]])) == .boolean(true))
        for (count, top) in [(0, 0), (1, 1), (2, 0), (Int.max, 0), (1 << 61, 0)] as [(Int, UInt8)] {
            #expect(throws: PropertyListError.self) { try read(Self.list([[0x09]], count: count, top: top)) }
        }
        for text in ["bplist", "bplist00", "bplist01aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bplist00\0"] {
            #expect(throws: PropertyListError.self) { try read(Array(text.utf8)) }
        }
        #expect(throws: PropertyListError.self) {
            try read(Array("bplist00".utf8) + Array(repeating: 0, count: PropertyListReader.maxLength))
        }
    }
}

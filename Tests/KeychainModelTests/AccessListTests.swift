// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import Testing

/// The bytes of an access list (Documentation/Formats/keychain-database.md, "Access lists").
@Suite("Access lists")
struct AccessListTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let list: AccessList
        let bytes: [UInt8]
        var testDescription: String { "\(list)" }
    }

    static let rows: [Row] = [
        row("", .unspecified, [], [1, 0, 0, 0, 0, 0]),
        row("ab", .any, [], [1, 1, 0, 2, 0x61, 0x62, 0, 0]),
        row("", .listed([]), [], [1, 2, 0, 0, 0, 0, 0, 0]),
        row(
            "\u{E4}", .listed(["/x", "y"]), [],
            [1, 2, 0, 2, 0xC3, 0xA4, 0, 2, 0, 2, 0x2F, 0x78, 0, 1, 0x79, 0, 0]),
        row("", .unspecified, ["a:", "a:"], [1, 0, 0, 0, 0, 2, 0, 2, 0x61, 0x3A, 0, 2, 0x61, 0x3A]),
    ].compactMap { $0 }

    private static func row(
        _ name: String, _ programs: AccessList.Programs, _ partitions: [String], _ bytes: [UInt8]
    ) -> Row? {
        guard let list = try? AccessList(name: name, programs: programs, partitions: partitions) else { return nil }
        return Row(list: list, bytes: bytes)
    }

    @Test("KDB-88: the one encoding of a list decodes to the same list; no prefix or extension of it decodes")
    func coding() throws {
        #expect(Self.rows.count == 5)
        for row in Self.rows {
            #expect(row.list.encoded == row.bytes, "\(row.list)")
            #expect(try AccessList(decoding: row.bytes) == row.list)
            #expect(try AccessList(row.list.attributeValue) == row.list)
            for count in row.bytes.indices { expectRefusal(Array(row.bytes.prefix(count)), "not complete") }
            expectRefusal(row.bytes + [0], "1 bytes after its end")
        }
    }

    static let refused: [([UInt8], String)] = [
        ([0, 0, 0, 0, 0, 0], "version 0"), ([2, 0, 0, 0, 0, 0], "version 2"), ([1, 3, 0, 0, 0, 0], "kind 3"),
        ([1, 255, 0, 0, 0, 0], "kind 255"), ([1, 0, 0, 1, 0xFF, 0, 0], "not UTF-8"),
        ([1, 0, 0, 3, 0xED, 0xA0, 0x80, 0, 0], "not UTF-8"),
        ([1, 2, 0, 0, 0, 1, 0, 0, 0, 0], "empty text among its programs"),
        ([1, 0, 0, 0, 0, 1, 0, 0], "empty text among its partitions"), ([1, 0, 0, 0, 0, 129], "list of 129"),
        ([1, 0, 0, 0, 0xFF, 0xFF], "list of 65535"), ([1, 0, 0xFF, 0xFF], "not complete"),
        (tooLong, "text of 4097 bytes"),
    ]
    private static let tooLong: [UInt8] = [1, 0, 0x10, 0x01] + Array(repeating: 0x61, count: 4097) + [0, 0]

    @Test("KDB-88: bytes that are no such list are refused with their error", arguments: refused)
    func refusals(_ bytes: [UInt8], _ text: String) {
        expectRefusal(bytes, text)
    }

    @Test("KDB-88: every changed byte gives an error, or another list with exactly these bytes")
    func changedBytes() {
        for row in Self.rows {
            for index in row.bytes.indices {
                for bit in 0..<8 {
                    var bytes = row.bytes
                    bytes[index] ^= 1 << UInt8(bit)
                    if let list = try? AccessList(decoding: bytes) { #expect(list.encoded == bytes) }
                }
            }
        }
    }

    @Test("A list within the limits is accepted, and one beyond them is refused with the limit")
    func limits() throws {
        let longest = String(repeating: "a", count: 4096)
        let most = Array(repeating: "/x", count: 128)
        let largest = try AccessList(name: longest, programs: .listed(most), partitions: most)
        #expect(try AccessList(decoding: largest.encoded) == largest)
        expectRefusal("4096") { () throws(KeychainError) in
            _ = try AccessList(name: longest + "a", programs: .any)
        }
        expectRefusal("129 programs") { () throws(KeychainError) in
            _ = try AccessList(name: "", programs: .listed(most + ["/x"]))
        }
        expectRefusal("129 partitions") { () throws(KeychainError) in
            _ = try AccessList(name: "", programs: .any, partitions: most + ["/x"])
        }
        expectRefusal("65536") { () throws(KeychainError) in
            _ = try AccessList(name: "", programs: .listed(Array(repeating: longest, count: 17)))
        }
    }

    @Test("Composed and decomposed paths are different programs")
    func values() throws {
        let composed = try AccessList(name: "", programs: .listed(["\u{E4}"]))
        #expect(try AccessList(name: "", programs: .listed(["a\u{308}"])) != composed)
    }

    @Test("A value that is not data is refused", arguments: [AttributeValue.string("x"), .number(1), .date(0)])
    func otherValues(_ value: AttributeValue) {
        expectRefusal("not data") { () throws(KeychainError) in _ = try AccessList(value) }
    }

    private func expectRefusal(_ bytes: [UInt8], _ text: String) {
        expectRefusal(text) { () throws(KeychainError) in _ = try AccessList(decoding: bytes) }
    }

    private func expectRefusal(_ text: String, _ body: () throws(KeychainError) -> Void) {
        do {
            try body()
            Issue.record("not refused: \(text)")
        } catch {
            #expect(error.status == .param && error.problem.contains(text), "\(error) without \(text)")
        }
    }
}

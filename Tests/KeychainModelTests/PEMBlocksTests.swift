// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import Testing

/// The blocks of texts in PEM. A part is written as `LINE LABEL`, with the defect after a colon.
@Suite("PEM blocks")
struct PEMBlocksTests {
    private static let (begin, end) = ("-----BEGIN A-----", "-----END A-----")
    private static let mark = "\u{FEFF}"
    private static let data = String(repeating: "MIIB", count: 16)
    private static let long = String(repeating: data, count: 5)
    private static let whole = "\(begin)\nAQID\n\(end)\n"

    private static func parts(_ text: String) -> [String] {
        Array(text.utf8).withUnsafeBytes { bytes in
            let found = PEMBlocks(bytes)
            let blocks = found.blocks.map { block in
                (block.line, "\(block.line) \(block.label)\(block.defect.map { ": \($0)" } ?? "")")
            }
            let strays = found.strays.map { ($0.line, "\($0.line): \($0.defect)") }
            return (blocks + strays).sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    @Test(
        "Blocks are found after a byte order mark, with any line ends and indentation, and a damaged one is named with its line",
        arguments: [
            ("\(begin)\nAQID\n\(end)\n", ["1 A"]), ("\(mark)\(begin)\nAQID\n\(end)\n", ["1 A"]),
            ("\(begin)\nAQID\n\(end)\n\(mark)\(begin)\nAQID\n\(end)", ["1 A", "4 A"]),
            ("\(mark)\(mark)text\n\(begin)\nAQID\n\(end)", ["2 A"]),
            ("\(begin)\r\nAQID\r\n\(end)\r\n\(begin)\r\n\(end)", ["1 A", "4 A"]),
            ("text\r\(begin)\rAQID\r\(end)\r", ["2 A"]), ("\n  \t\(begin) \t\n  AQID\n  \(end)\n", ["2 A"]),
            ("\(begin)\nAQID", ["1 A: noEnd"]), ("\(begin)\n\(begin)\nAQID\n\(end)", ["1 A: noEnd", "2 A"]),
            ("\(begin)\nAQID\n-----END B-----\n", ["1 A: otherEnd"]), ("text\n\(end)\n", ["2: noBegin"]),
            ("----BEGIN A-----\nAQID\n\(end)\n\(begin)\n\(end)", ["1 : begin", "4 A"]),
            ("-----BEGIN A----- x\nAQID\n\(end)\n", ["1 : begin"]),
            ("––––––BEGIN A–––––\nAQID\n––––––END A–––––\n\(begin)\n\(end)", ["1 : begin", "4 A"]),
            ("\(begin)\nAQID\n-----END A----\n\(begin)\n\(end)", ["1 A: noEnd", "4 A"]),
            ("\(begin)\nAQID\n\(end)x\n", ["1 A: noEnd"]),
            ("\(data)\n\(data)\nMIIB\n\(begin)\n\(end)\n\(data)\nno\n", ["1: data", "4 A"]),
            ("\(data)\n\(data)\n\(end)", ["1: noBegin"]), ("\(begin)\n\(end)\n\0\u{1}\n\0", ["1 A", "3: binary"]),
            // A block on one line, and data in the text of another format.
            (
                "\(begin)\(long)\(end)\n\(begin)\(data)\(end)\n\(long)\n\(whole)",
                ["1 : begin", "2 : begin", "3: data", "4 A"]
            ),
            ("\(begin)AQID\(end)\n\(whole)", ["1 : begin", "2 A"]),
            ("\(begin) \(data) \(data) \(end)\n\(whole)", ["1 : begin", "2 A"]),
            ("\(begin)\\n\(data)\\n\(end)\\n\n\(whole)", ["1 : begin", "2 A"]),
            ("\(begin)\(data)\n\(data)\n\(end)\n\(whole)", ["1 : begin", "4 A"]),
            ("\(begin) # \(long)\n\(data)\n\(end)\n\(whole)", ["1 : begin", "4 A"]),
            ("\(begin)\nAQID\n\(begin)\(long)\(end)\n\(end)\n", ["1 A: noEnd", "3 : begin", "4: noBegin"]),
            ("\(begin)\nAQID\n\(end)\(begin)\nAQID\n\(end)\n", ["1 A: otherEnd", "5: noBegin"]),
            ("a: '\(begin)\\n\(long)'\n\(whole)", ["1: inside", "2 A"]),
            ("A=\"\(begin)\n\(data)\nMIIB\n\(end)\"\n\(whole)", ["1: noBegin", "5 A"]),
            ("\"\(begin)\\n\"\n\"\(data)\\n\"\n\"\(end)\\n\"\n\(whole)", ["1: inside", "4 A"]),
            ("\(long)\n\(whole)", ["1: data", "2 A"]), ("a: [\"\(long)\"]\n\(whole)", ["1: data", "2 A"]),
            ("\(long)\(end)\n\(whole)", ["1: data", "2 A"]), ("\(long)\n\(end)\n", ["1: noBegin"]),
            ("\(data) \(data) \(data) \(data)\n\(whole)", ["1: data", "2 A"]),
            ("\(data)\n# \(begin)\\n\(long)\nssh-rsa AAAA\(long) a\n\(whole)", ["4 A"]),
            ("the BEGIN of a text\n----\n- BEGIN of a list\n-----\n", []), ("", []), ("\n\r\n", []), (mark, []),
        ] as [(String, [String])])
    func parts(_ text: String, _ expected: [String]) {
        #expect(Self.parts(text) == expected, "\(text.debugDescription)")
    }

    @Test("The content of a block is the text between its marks, after the headers")
    func content() {
        func content(_ text: String) -> (String, Bool)? {
            Array(text.utf8).withUnsafeBytes { bytes in
                PEMBlocks(bytes).blocks.first.map {
                    (String(decoding: bytes[$0.content], as: UTF8.self), $0.hasHeaders)
                }
            }
        }
        #expect(content("\(Self.begin)\nAQID\n\nBA==\n\(Self.end)")?.0 == "AQID\n\nBA==\n")
        #expect(content("\(Self.begin)\r\nAQID\r\n\(Self.end)")?.0 == "AQID\r\n")
        #expect(content("\(Self.begin)\n\(Self.end)")?.0 == "")
        let headers = content("\(Self.begin)\nProc-Type: 4,ENCRYPTED\n more\nDEK-Info: x\n\nAQID\n\(Self.end)")
        #expect(headers?.0 == "AQID\n" && headers?.1 == true)
        #expect(content("\(Self.begin)\nAQ:ID\n\(Self.end)")?.0 == "")
    }

    @Test("DER is told from a text, also from one that starts with the digit of its tag")
    func der() {
        func isDER(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes(PEMBlocks.isDER) }
        #expect(isDER([0x30, 0x82, 0x01, 0x00]) && isDER([0x30, 0x02, 0x05, 0x00]) && isDER([0x30, 0x00]))
        #expect(
            !isDER([]) && !isDER([0x30]) && !isDER(Array("0 s:CN = example.com\n".utf8)) && !isDER([0x02, 0x01, 0x00]))
    }

    @Test("Each prefix of a text has no more whole blocks than the text, and traps on nothing")
    func prefixes() {
        let text = Array("x\r\n\(Self.mark)\(Self.begin)\rA: b\n\nAQID\n\(Self.end)\n\(Self.begin)\n\(Self.end)".utf8)
        for count in 0...text.count {
            let whole = text.prefix(count).withUnsafeBytes { PEMBlocks($0).blocks.count { $0.defect == nil } }
            #expect(whole <= 2)
        }
    }
}

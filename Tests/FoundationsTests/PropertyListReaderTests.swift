// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LinuxSystem
import Testing

/// Untrusted property lists. Foundation's writer and reader determine the value of a well-formed
/// list.
@Suite("Property lists")
struct PropertyListReaderTests {
    private func read(_ text: String) throws(PropertyListError) -> PropertyListValue {
        try PropertyListReader.read(Array(text.utf8))
    }

    private func list(_ value: String) -> String { "<plist version=\"1.0\">\(value)</plist>" }

    @Test("A list that Foundation has written is read with the same values")
    func foundation() throws {
        let written: [String: Any] = [
            "text": "a < b & \"c\" > 'd' \u{E4} \u{1F600}\n", "number": Int64.min, "large": Int64.max, "real": -1.5,
            "yes": true,
            "no": false,
            "date": Date(timeIntervalSince1970: 951_782_399), "early": Date(timeIntervalSince1970: -11_676_096_000),
            "data": Data((0...255).map(UInt8.init)), "none": Data(), "list": ["a", ["b", [String: Any]()]] as [Any],
            "": "",
        ]
        let bytes = try PropertyListSerialization.data(fromPropertyList: written, format: .xml, options: 0)
        let value = try PropertyListReader.read(Array(bytes))
        #expect(value["text"] == .string("a < b & \"c\" > 'd' \u{E4} \u{1F600}\n"))
        #expect(value["number"] == .integer(.min) && value["large"] == .integer(.max))
        #expect(value["real"] == .real(-1.5))
        #expect(value["yes"] == .boolean(true) && value["no"] == .boolean(false))
        #expect(value["date"] == .date(951_782_399) && value["early"] == .date(-11_676_096_000))
        #expect(value["data"] == .data((0...255).map(UInt8.init)) && value["none"] == .data([]))
        #expect(value["list"] == .array([.string("a"), .array([.string("b"), .dictionary([:])])]))
        #expect(value[""] == .string(""))
        #expect(value.dictionary?.count == written.count)
    }

    @Test(
        "Variants of XML syntax do not change the value",
        arguments: [
            "<plist><string>ab</string></plist>", "\u{FEFF}<plist>\n<string >ab</string\n></plist>\n",
            "<?xml version='1.0'?><!DOCTYPE plist PUBLIC \"-//A>B\" 'x'><!-- > --><plist version = '1.0' ><string>ab</string></plist><!---->",
            "<plist><string>a<!-- x -->b</string></plist>", "<plist><string><![CDATA[ab]]></string></plist>",
            "<plist><string>&#97;&#x62;</string></plist>", "<plist><?x y?><string>ab</string></plist>",
        ])
    func freedoms(_ text: String) throws {
        #expect(try read(text) == .string("ab"))
    }

    @Test(
        "Numbers, dates and data are read exactly or rejected",
        arguments: [
            ("<integer> 0x1F\n</integer>", .integer(31)), ("<integer>-0</integer>", .integer(0)),
            ("<real>1e3</real>", .real(1000)), ("<date>2000-02-29T23:59:59Z</date>", .date(951_868_799)),
            ("<date>1969-12-31T23:59:59Z</date>", .date(-1)), ("<data>\n YQ= =\n</data>", .data([0x61])),
            ("<integer>9223372036854775808</integer>", nil), ("<integer></integer>", nil),
            ("<integer>1.0</integer>", nil),
            ("<real>nan</real>", nil), ("<real>1e999</real>", nil), ("<real/>", nil),
            ("<date>2001-02-29T00:00:00Z</date>", nil),
            ("<date>2001-13-01T00:00:00Z</date>", nil), ("<date>2001-01-01T24:00:00Z</date>", nil),
            ("<date>2001-01-01</date>", nil),
            ("<date>\u{664}001-01-01T00:00:00Z</date>", nil), ("<data>a</data>", nil), ("<data>!!!!</data>", nil),
            ("<true>x</true>", nil),
        ] as [(String, PropertyListValue?)])
    func values(_ text: String, _ expected: PropertyListValue?) throws {
        #expect((try? read(list(text))) == expected)
    }

    @Test(
        "Malformed lists are rejected",
        arguments: [
            "", "text", "<plist>", "<plist/>", "<plist></plist>", "<string>a</string>", "<plist><string>a</plist>",
            "<plist><dict><key>a</key></dict></plist>",
            "<plist><dict><string>a</string></dict></plist>", "<plist><string>a</string><string>b</string></plist>",
            "<plist><string>a</string></plist><plist/>", "<plist><string>a</string></plist>x",
            "<plist><array></dict></plist>",
            "<plist><string>&unknown;</string></plist>", "<plist><string>&#xD800;</string></plist>",
            "<plist><string>&#0;</string></plist>",
            "<plist><string>&", "<plist><string>&amp", "<plist><!--", "<plist><string><![CDATA[",
            "<plist x><string/></plist>",
            "<plist x=\"",
            "<!DOCTYPE plist [<!ENTITY a \"aaaa\">]><plist><string>&a;</string></plist>", "<!DOCTYPE",
            "<plist><null/></plist>",
            "<plist></string></plist>",
            "<plist><dict><key>a</key><string/><key>a</key><string/></dict></plist>", "<plist><string/ ></plist>",
            "< plist>", "</plist>",
            "<",
        ])
    func malformed(_ text: String) {
        #expect(throws: PropertyListError.self) { try read(text) }
    }

    @Test("Binary lists, other encodings, and invalid UTF-8 in a number are rejected")
    func otherForms() throws {
        let binary = try PropertyListSerialization.data(fromPropertyList: ["a": 1], format: .binary, options: 0)
        let error = #expect(throws: PropertyListError.self) { try PropertyListReader.read(Array(binary)) }
        #expect(error?.problem.contains("binary") == true)
        for bytes in [Array("<plist><integer>".utf8) + [0xFF, 0xFF], [0xFF, 0xFE, 0x3C, 0x00]] as [[UInt8]] {
            #expect(throws: PropertyListError.self) { try PropertyListReader.read(bytes) }
        }
    }

    @Test("A list of any depth is read or rejected without a crash", arguments: ["array", "dict"])
    func depth(_ element: String) throws {
        for depth in [PropertyListReader.maxDepth, PropertyListReader.maxDepth + 1, 50_000] {
            let key = element == "dict" ? "<key/>" : ""
            let opening = String(repeating: "<\(element)>\(key)", count: depth)
            let text = list(opening + "<true/>" + String(repeating: "</\(element)>", count: depth))
            #expect(((try? read(text)) != nil) == (depth <= PropertyListReader.maxDepth), "\(depth)")
            // The same for a list that ends in the middle.
            #expect(throws: PropertyListError.self) { try read("<plist>" + opening) }
        }
    }

    @Test("Too many values and too many bytes are rejected")
    func limits() throws {
        let many = list("<array>" + String(repeating: "<true/>", count: PropertyListReader.maxCount) + "</array>")
        #expect(throws: PropertyListError.self) { try read(many) }
        #expect(throws: PropertyListError.self) {
            try PropertyListReader.read([UInt8](repeating: 0x20, count: PropertyListReader.maxLength + 1))
        }
    }

    @Test("Every truncation of a list is rejected")
    func truncation() throws {
        let text = Array(
            list("<dict><key>a</key><array><integer>1</integer><date>2001-01-01T00:00:00Z</date></array></dict>").utf8)
        for length in text.indices {
            #expect(throws: PropertyListError.self) { try PropertyListReader.read(Array(text.prefix(length))) }
        }
    }

    // MARK: Files

    @Test("Only regular files are read, up to the limit and regardless of the size in stat(2)")
    func files() throws {
        #expect(try BoundedFile.read("/proc/self/cmdline", limit: 1 << 20)?.isEmpty == false)
        let endless = #expect(throws: SystemError.self) { try BoundedFile.read("/proc/self/pagemap", limit: 1 << 20) }
        #expect(endless?.code == EFBIG)
        let directory = try TemporaryDirectory()
        #expect(mkfifo("\(directory.path)/pipe", 0o600) == 0)
        for path in ["/dev/zero", "\(directory.path)/pipe", directory.path] {
            let error = #expect(throws: SystemError.self) { try BoundedFile.read(path, limit: 10) }
            #expect(error?.code == EINVAL, "\(path)")
        }
        #expect(try BoundedFile.read("\(directory.path)/nothing", limit: 10) == nil)
        try Data(count: 10).write(to: URL(filePath: "\(directory.path)/ten"))
        #expect(try BoundedFile.read("\(directory.path)/ten", limit: 10)?.count == 10)
        #expect(throws: SystemError.self) { try BoundedFile.read("\(directory.path)/ten", limit: 9) }
    }
}

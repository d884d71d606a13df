// SPDX-License-Identifier: Apache-2.0

import SystemBus
import Testing

@Suite("Types and names of D-Bus")
struct SignatureTests {
    @Test(
        "A signature is parsed and written again",
        arguments: [
            "", "s", "ao", "a{sv}", "(oayays)", "a(susso)", "aas", "a{s(ii)}", "ybnqiuxtdsogh", "av", "a{oa{sv}}",
            String(repeating: "a", count: 32) + "s",
            String(repeating: "(", count: 32) + "s" + String(repeating: ")", count: 32),
        ])
    func signatures(_ text: String) throws {
        #expect(try BusSignature(parsing: text).text == text)
    }

    @Test(
        "Text that is not a signature is rejected",
        arguments: [
            "a", "(", ")", "()", "(s", "s)", "{ss}", "a{}", "a{s}", "a{sss}", "a{vs}", "a{(i)s}", "z", "é", "a{sv",
            "(a)", "ss}", String(repeating: "s", count: 256), String(repeating: "a", count: 33) + "s",
            String(repeating: "(", count: 33) + "s" + String(repeating: ")", count: 33),
            String(repeating: "a{s", count: 33) + "s" + String(repeating: "}", count: 33),
        ])
    func invalidSignatures(_ text: String) {
        #expect(throws: BusError.self) { try BusSignature(parsing: text) }
    }

    @Test(
        "Text that is not an object path is rejected",
        arguments: [
            "", "a", "//", "/a/", "/a//b", "a/b", "/é", "/a-b", "/a.b", "/a\0",
            "/" + String(repeating: "a", count: 4096),
        ])
    func invalidPaths(_ text: String) {
        #expect(throws: BusError.self) { try ObjectPath(validating: text) }
    }

    @Test("An object path is at or below its own prefix of whole components only")
    func paths() throws {
        let path: ObjectPath = "/org/example/a"
        #expect(path.isAtOrBelow("/") && path.isAtOrBelow("/org/example") && path.isAtOrBelow(path))
        #expect(!path.isAtOrBelow("/org/exam") && !path.isAtOrBelow("/org/example/a/b"))
        #expect(try path.appending("b_1").text == "/org/example/a/b_1")
        #expect(try ObjectPath(validating: "/").appending("b").text == "/b")
        #expect(throws: BusError.self) { try path.appending("b/c/") }
        #expect(throws: BusError.self) { try path.appending("") }
    }

    @Test(
        "Text that is not a bus name is rejected",
        arguments: [
            "", "a", "a.", ".a", "a..b", "1.a", "a.1b", "a.b c", ":", ":1", "a.b\0", "é.b",
            String(repeating: "a.", count: 200) + "b",
        ])
    func invalidNames(_ text: String) {
        #expect(throws: BusError.self) { try BusName(validating: text) }
    }

    @Test("A unique name is distinguished from a name that was requested")
    func names() throws {
        #expect(try BusName(validating: ":1.42").isUnique)
        #expect(try !BusName(validating: "org.freedesktop.login1").isUnique)
        #expect(try BusName(validating: "org.example.with-dash_1").text == "org.example.with-dash_1")
    }

    @Test("A field of another type is an error, and so is a field after the end")
    func fields() throws {
        var fields = BusFields([.string("a"), .structure([.uint32(1)])])
        #expect(throws: BusError.unexpected(expected: "u", found: "s")) { try fields.next(UInt32.self) }
        var inner = try fields.nextStructure()
        #expect(try inner.next(UInt32.self) == 1)
        #expect(throws: BusError.unexpected(expected: "u", found: "the end")) { try inner.next(UInt32.self) }
    }

    @Test("A dictionary with a key that occurs twice is not converted")
    func duplicateKeys() {
        let entry = BusValue.Entry(.string("a"), .uint32(1))
        let once = BusValue.dictionary(key: .string, value: .uint32, [entry])
        let twice = BusValue.dictionary(key: .string, value: .uint32, [entry, entry])
        #expect([String: UInt32].from(once) == ["a": 1])
        #expect([String: UInt32].from(twice) == nil)
    }

    @Test("An empty array keeps its type")
    func emptyArrays() {
        #expect([String]().busValue == .array(of: .string, []))
        #expect([UInt8]().busValue == .bytes([]))
        #expect([String].from(.bytes([])) == nil && [UInt8].from(.bytes([])) == [])
        #expect([UInt8].from(.array(of: .string, [])) == nil)
    }
}

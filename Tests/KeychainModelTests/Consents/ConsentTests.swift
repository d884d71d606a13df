// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import Testing

@Suite("Consents, and the creators of items")
struct ConsentTests {
    private static func path(_ text: String) throws -> ProgramPath { try #require(ProgramPath(text)) }

    @Test("A consent is read as it was written", arguments: ["/a", "/usr/bin/mail reader", "/opt/é/x", "/* b"])
    func coding(_ text: String) throws {
        for scope in [Consent.Scope.everyItem, .item([0]), .item([UInt8](0...255))] {
            let consent = Consent(try Self.path(text), scope)
            #expect(Consent(decoding: consent.encoded) == consent)
        }
        #expect(Consent(try Self.path("/a"), .item([0x0A, 0xFF])).encoded == "0aff /a")
    }

    @Test(
        "Other texts are no consent",
        arguments: ["", "*", "* ", "*/a", " /a", "** /a", "* a", "0 /a", "0A /a", "+1 /a", "0g /a", "00  a", "00"])
    func malformed(_ text: String) { #expect(Consent(decoding: text) == nil) }

    @Test("A path is absolute, not longer than its limit, and compared by its bytes")
    func paths() throws {
        for text in ["", "/", "a", "./a", "é/", "/" + String(repeating: "a", count: ProgramPath.maxLength)] {
            #expect(ProgramPath(text) == nil)
        }
        #expect(try Self.path("/\u{E9}") != Self.path("/e\u{301}"))
    }

    @Test("SECS-12: a list of creators is that of the Secret Service only, and another program is added to it")
    func creators() throws {
        let (one, two) = (try Self.path("/usr/bin/one"), try Self.path("/usr/bin/two"))
        let list = try AccessList(creator: one)
        #expect(list.creators == [one] && list.adding([one]) == list)
        #expect(list.adding([two]).creators == [one, two])
        #expect(try AccessList(decoding: list.adding([two]).encoded).creators == [one, two])
        // A list of `security -T` names no creator, and stays.
        let other = try AccessList(name: "Mail", programs: .listed(["/usr/bin/one"]), partitions: ["apple-tool:"])
        #expect(other.creators.isEmpty && other.adding([two]) == other)
        var many = list
        for number in 0..<100 { many = many.adding([try Self.path("/usr/bin/\(number)")]) }
        #expect(many.creators.count == 16 && many.creators.last?.text == "/usr/bin/99")
    }
}

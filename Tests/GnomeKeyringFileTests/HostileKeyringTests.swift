// SPDX-License-Identifier: Apache-2.0

@testable import GnomeKeyringFile
import SecretMemory
import Testing

/// Files that no gnome-keyring has written.
@Suite("Hostile keyrings of gnome-keyring")
struct HostileKeyringTests {
    private static func open(_ bytes: [UInt8]) throws -> GnomeKeyring {
        try KeyringFile(SharedSecret(copying: bytes)).open(with: SharedSecret(copying: KeyringDraft.password))
    }

    private static func error(_ bytes: [UInt8]) -> GnomeKeyringError? {
        do {
            _ = try open(bytes)
            return nil
        } catch {
            return error as? GnomeKeyringError
        }
    }

    private static func problem(_ bytes: [UInt8]) -> String? {
        guard case .damaged(let problem)? = error(bytes) else { return nil }
        return problem
    }

    // MARK: The encrypted format

    @Test("A draft is read as it was made")
    func draft() throws {
        var draft = KeyringDraft([KeyringDraft.item("A", "secret"), KeyringDraft.item("B", "")])
        draft.iterations = 1000
        let keyring = try Self.open(draft.encoded())
        #expect(keyring.label == "Draft" && keyring.created == 10 && keyring.modified == 20)
        #expect(keyring.items.map(\.label) == ["A", "B"] && keyring.items.map(\.identifier) == ["0", "1"])
        #expect(keyring.items.map(\.secret) == [SharedSecret(copying: "secret".utf8), SharedSecret(copying: [])])
    }

    @Test(
        "More iterations than the limit are refused before the first one", arguments: [0, 1_048_577, .max] as [UInt32])
    func iterations(_ count: UInt32) throws {
        var bytes = try KeyringDraft().encoded()
        // After the magic number, the version, the label of five bytes, two times and two numbers.
        let position = 16 + 4 + 9 + 16 + 8
        bytes.replaceSubrange(position..<position + 4, with: KeyringDraft.number(count))
        #expect(Self.error(bytes) == .tooManyIterations(count: count, max: 1 << 20))
    }

    @Test("Another version, cipher or hash function is refused with its numbers", arguments: 0..<4)
    func version(_ index: Int) throws {
        var draft = KeyringDraft()
        draft.version[index] = 1
        #expect(Self.error(try draft.encoded()) == .unsupported(version: draft.version))
    }

    @Test("Each changed byte of a keyring is refused, or changes unauthenticated data only")
    func changes() throws {
        let draft = KeyringDraft([KeyringDraft.item("A", "secret", attributes: Self.attribute(0, "name", "value"))])
        let (bytes, whole) = (try draft.encoded(), try Self.open(draft.encoded()))
        for index in bytes.indices {
            for change in [UInt8(0x01), 0x80, 0xFF] {
                var changed = bytes
                changed[index] ^= change
                // A number of iterations that is allowed, but slow, is another test.
                if (53..<57).contains(index) { continue }
                guard let keyring = try? Self.open(changed) else { continue }
                // Kind and identifier of an item, and the name and the times of the keyring, are plain.
                #expect(keyring.items.map(\.secret) == whole.items.map(\.secret), "\(index)")
                #expect(keyring.items.map(\.attributes) == whole.items.map(\.attributes), "\(index)")
            }
        }
    }

    private static func attribute(_ kind: UInt32, _ name: String, _ value: String) -> [UInt8] {
        let parts = [
            KeyringDraft.number(1), KeyringDraft.text(name), KeyringDraft.number(kind), KeyringDraft.text(value),
        ]
        return parts.flatMap { $0 }
    }

    @Test("Content that the password opens and that is not valid is damaged, with the part that is wrong")
    func contents() throws {
        let huge = KeyringDraft.number(0x7FFF_FFFF)
        let cases: [(content: [UInt8], problem: String)] = [
            ([], "it ends within the length of the name of an item"),
            (huge, "it ends within the name of an item"),
            (KeyringDraft.number(2) + [0xFF, 0xFE], "the name of an item is not text in UTF-8"),
            (KeyringDraft.number(1) + [0], "the name of an item is not text in UTF-8"),
            (KeyringDraft.text("A") + huge, "it ends within the secret"),
            (KeyringDraft.item("A", "s", attributes: huge), "it ends within"),
            (
                KeyringDraft.item("A", "s", attributes: Self.attribute(2, "n", "v")),
                "an attribute has the kind 2, expected 0 or 1"
            ),
        ]
        for (content, problem) in cases {
            let found = Self.problem(try KeyringDraft([content]).encoded())
            #expect(found?.hasPrefix(problem) == true, "\(problem): \(found ?? "accepted")")
        }
    }

    @Test("Counts that the file cannot contain are refused, without memory for them")
    func counts() throws {
        var draft = KeyringDraft()
        draft.count = .max
        #expect(Self.problem(try draft.encoded()) != nil)
        draft.count = 1
        draft.heads = [KeyringDraft.number(1), KeyringDraft.number(0), KeyringDraft.number(.max)].flatMap { $0 }
        #expect(Self.problem(try draft.encoded()) != nil)
    }

    @Test(
        "An encrypted part that is too short, or not of whole blocks, is damaged",
        arguments: [0, 15, 17, 1 << 30] as [UInt32])
    func blocks(_ count: UInt32) throws {
        let bytes = try KeyringDraft().encoded()
        // Of the keyring without items, the encrypted part has one block.
        let parts = [Array(bytes.dropLast(20)), KeyringDraft.number(count), [UInt8](repeating: 0, count: 32)]
        #expect(Self.problem(parts.flatMap { $0 }) != nil)
    }

    // MARK: The plain format

    private static func plain(_ text: String) throws -> GnomeKeyring { try open(Array(text.utf8)) }

    @Test("Comments, empty lines, unknown keys and groups of others are ignored")
    func ignored() throws {
        let keyring = try Self.plain(
            """
            # made by hand

            [keyring]
            display-name=By hand
            shape=round

            [1]
            display-name=One
            secret=s

            [1:attribute0]
            name=half

            [1:attribute1]
            name=port
            type=uint32
            value=-1

            [9:attribute0]
            name=of no item
            value=v

            [1:other]
            name=x
            """)
        #expect(keyring.label == "By hand" && keyring.created == 0 && keyring.items.count == 1)
        #expect(keyring.items.first?.attributes == [:])
        #expect(keyring.items.first?.secret == SharedSecret(copying: "s".utf8))
    }

    @Test("An item is read with the attributes that precede it")
    func order() throws {
        let keyring = try Self.plain("[keyring]\n[1:attribute0]\nname=n\nvalue=v\n[1]\ndisplay-name=One")
        #expect(keyring.items.map(\.label) == ["One"])
        #expect(keyring.items.first?.attributes == ["n": .text("v")])
    }

    @Test("Escapes stand for their characters, and another backslash for itself")
    func escapes() throws {
        let keyring = try Self.plain("[keyring]\ndisplay-name=\\s\\n\\t\\r\\\\\\x\\")
        #expect(keyring.label == " \n\t\r\\\\x\\")
    }

    @Test(
        "A secret in several lines ends before the times that end its item, and otherwise with its first line",
        arguments: [
            ("a\nb\nmtime=1\nctime=1", "a\nb"), ("a\nb\nmtime=1\nctime=1\n", "a\nb"),
            ("a\nb\nmtime=1\nctime=1\n\n[2]\nsecret=x\nmtime=1\nctime=1\n", "a\nb"),
            ("a\nmtime=1\nb\nmtime=1\nctime=1\n", "a\nmtime=1\nb"),
            ("a\nmtime=1\nctime=1\nb\nmtime=1\nctime=1\n", "a\nmtime=1\nctime=1\nb"),
            ("a\nmtime=1\nctime=1\n\nb\nmtime=1\nctime=1\n", "a\nmtime=1\nctime=1\n\nb"),
            ("\nmtime=1\nctime=1", ""), ("a\r\nmtime=1\nctime=1", "a\r"), ("a\nctime=1\nmtime=1\n", "a"),
        ])
    func secrets(_ lines: String, _ secret: String) throws {
        let keyring = try Self.plain("[keyring]\n\n[1]\nsecret=\(lines)")
        #expect(keyring.items.first?.secret == SharedSecret(copying: secret.utf8))
    }

    @Test(
        "A line that is not valid is reported with its number",
        arguments: [
            ("[keyring]\n\nword", "line 3 is neither a group nor a key with a value"),
            ("[keyring]\n[]", "line 2 is neither a group nor a key with a value"),
            ("[keyring]\n[1]\nbinary-secret=0", "line 3 is not a secret in hexadecimal digits"),
            ("[keyring]\n[1]\nbinary-secret=0g", "line 3 is not a secret in hexadecimal digits"),
            ("[keyring]\n[1]\nsecret=a\nb", "line 4 is neither a group nor a key with a value"),
        ])
    func lines(_ text: String, _ problem: String) {
        #expect(Self.problem(Array(text.utf8)) == problem)
    }

    @Test("Text that is not UTF-8 is damaged, and a secret of such bytes is read")
    func encoding() throws {
        // Latin-1.
        func bytes(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
        #expect(Self.problem(bytes("[keyring]\ndisplay-name=\u{FF}")) == "line 2 is not UTF-8")
        #expect(Self.problem(bytes("[keyring]\n[\u{FF}]")) == "line 2 is not UTF-8")
        let keyring = try Self.open(bytes("[keyring]\n[1]\nsecret=\u{FF}"))
        #expect(keyring.items.first?.secret == SharedSecret(copying: [0xFF]))
    }

    // MARK: Neither

    @Test(
        "A file that begins like neither format is not recognized",
        arguments: ["", "GnomeKeyring", "[1]\nsecret=a", "keyring", "[keyring ]", "\n# only a comment\n"])
    func unrecognized(_ text: String) {
        #expect(Self.error(Array(text.utf8)) == .unrecognized)
    }

    @Test("A file or a number of lines above the limit is refused")
    func limits() {
        let size = KeyringLimits.maxFileSize
        #expect(
            Self.error(Array("[keyring]".utf8) + [UInt8](repeating: 0x20, count: size))
                == .tooLarge(count: size + 9, max: size))
        let lines = KeyringLimits.maxLines
        #expect(
            Self.error(Array("[keyring]".utf8) + [UInt8](repeating: 0x0A, count: lines + 1))
                == .tooLarge(count: lines + 1, max: lines))
    }

    @Test("Many unfinished secrets take time in proportion to the file")
    func unfinished() throws {
        let text = "[keyring]\n[1]\n" + String(repeating: "secret=a\n", count: 100_000)
        #expect(try Self.plain(text).items.count == 1)
    }
}

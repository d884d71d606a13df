// SPDX-License-Identifier: Apache-2.0

@testable import Presence
import SecretMemory
import Testing

/// The protocol between this process and pinentry.
@Suite("Lines of the Assuan protocol")
struct AssuanTests {
    @Test(
        "An argument is escaped and cut between two characters",
        arguments: [
            ("", "SETDESC\n"), ("a b", "SETDESC a b\n"), ("a\nb%\r\u{1B}", "SETDESC a%0Ab%25%0D%1B\n"),
            ("é", "SETDESC é\n"),
            (String(repeating: "a", count: 2000), "SETDESC " + String(repeating: "a", count: 992) + "\n"),
            (String(repeating: "é", count: 2000), "SETDESC " + String(repeating: "é", count: 496) + "\n"),
            (String(repeating: "%", count: 2000), "SETDESC " + String(repeating: "%25", count: 330) + "\n"),
        ])
    func commands(_ argument: String, _ line: String) {
        #expect(String(decoding: AssuanCommand("SETDESC", argument).line, as: UTF8.self) == line)
    }

    @Test(
        "Only lines of the protocol are parsed",
        arguments: [
            ("OK", "ok"), ("OK text", "ok"), ("OKAY", "nil"), ("ok", "nil"), ("", "nil"), (" OK", "nil"),
            ("OK\r", "nil"),
            ("D abc", "data abc"), ("D ", "data "), ("D", "nil"), ("Dabc", "nil"),
            ("S PIN_REPEATED", "repeated"), ("S PIN_REPEATED x", "repeated"), ("S PIN_REPEATEDLY", "remark"),
            ("S x", "remark"), ("#", "remark"), ("# x", "remark"), ("S", "nil"), ("INQUIRE x", "nil"),
            ("ERR 1", "error 1 "), ("ERR 83886179 Operation cancelled", "error 99 Operation cancelled"),
            ("ERR 65535 a b", "error 65535 a b"), ("ERR 65536", "error 0 "), ("ERR 4294967295", "error 65535 "),
            ("ERR 4294967296", "nil"), ("ERR", "nil"), ("ERR ", "nil"), ("ERR x", "nil"), ("ERR 1x", "nil"),
            ("ERR -1", "nil"),
        ])
    func lines(_ line: String, _ meaning: String) {
        #expect(Self.meaning(of: Array(line.utf8)) == meaning)
    }

    @Test("Lines are found however the bytes arrive", arguments: [1, 2, 3, 7, 1000, 2048])
    func chunks(_ size: Int) throws {
        let lines = ["OK", String(repeating: "x", count: 1000), "", "D abc", "é"]
        let source = Source(lines.map { $0 + "\n" }.joined(), chunk: size)
        var reader = AssuanReader()
        for line in lines {
            let found = try reader.withNextLine(
                read: { (memory) throws(PinentryError) in source.read(into: memory) },
                body: { (bytes) throws(PinentryError) in String(decoding: bytes, as: UTF8.self) })
            #expect(found == line)
        }
        #expect(throws: PinentryError.ended) { try Self.next(&reader, source) }
    }

    @Test("A line of 1001 bytes is too long, with or without its end", arguments: ["", "\n"], [1, 1000, 2048])
    func tooLong(_ end: String, _ size: Int) {
        let source = Source(String(repeating: "x", count: 1001) + end, chunk: size)
        var reader = AssuanReader()
        #expect(throws: PinentryError.unexpected("it wrote a line of more than 1000 bytes")) {
            try Self.next(&reader, source)
        }
    }

    @Test(
        "Data is decoded, or rejected",
        arguments: [
            ("abc", "abc"), ("", ""), ("%41%62", "Ab"), ("%c3%A4", "ä"), ("a+b", "a+b"), ("%25", "%"), ("%00", "\0"),
            ("%", nil), ("%4", nil), ("%4g", nil), ("%%41", nil), ("%-1", nil), ("%ff", nil), ("%c3", nil),
            ("%ed%a0%80", nil), ("%c0%80", nil),
            (String(repeating: "a", count: 1024), String(repeating: "a", count: 1024)),
            (String(repeating: "a", count: 1025), nil),
        ] as [(String, String?)])
    func data(_ data: String, _ text: String?) {
        #expect(Self.decoded(Array(data.utf8)) == text.map { Array($0.utf8) })
    }

    @Test("No sequence of bytes traps, and decoded text is UTF-8 of limited length")
    func randomBytes() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<5000 {
            let alphabet = Array("OKERDS %%0123456789afxPIN_\n".utf8) + [0, 0xC3, 0xA4, 0xFF]
            let bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                alphabet.randomElement(using: &generator) ?? 0
            }
            _ = Self.meaning(of: bytes)
            if let secret = Self.decoded(bytes) { #expect(String(validating: secret, as: UTF8.self) != nil) }
        }
    }

    // MARK: Support

    /// Bytes that arrive in pieces.
    private final class Source {
        private var bytes: [UInt8]
        private let chunk: Int

        init(_ text: String, chunk: Int) { (bytes, self.chunk) = (Array(text.utf8), chunk) }

        func read(into memory: UnsafeMutableRawBufferPointer) -> Int {
            let piece = bytes.prefix(min(chunk, memory.count))
            memory.copyBytes(from: piece)
            bytes.removeFirst(piece.count)
            return piece.count
        }
    }

    private static func next(_ reader: inout AssuanReader, _ source: Source) throws(PinentryError) {
        try reader.withNextLine(
            read: { (memory) throws(PinentryError) in source.read(into: memory) },
            body: { (_) throws(PinentryError) in })
    }

    private static func meaning(of bytes: [UInt8]) -> String {
        let secret = SecretBytes(bytes)
        return secret.withUnsafeBytes { bytes in
            switch AssuanLine(bytes) {
            case .ok: "ok"
            case .error(let code, let text): "error \(code.value) \(text)"
            case .data(let data): "data \(String(decoding: data, as: UTF8.self))"
            case .entryRepeated: "repeated"
            case .remark: "remark"
            case nil: "nil"
            }
        }
    }

    private static func decoded(_ data: [UInt8]) -> [UInt8]? {
        let line = SecretBytes(data)
        var secret = AssuanSecret()
        do {
            try line.withUnsafeBytes { (bytes) throws(PinentryError) in try secret.append(bytes) }
            return try secret.end().withUnsafeBytes { Array($0) }
        } catch {
            return nil
        }
    }
}

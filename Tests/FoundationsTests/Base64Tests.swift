// SPDX-License-Identifier: Apache-2.0

import Foundation
import LinuxSystem
import SecretMemory
import Testing

@Suite("Base64")
struct Base64Tests {
    @Test("Bytes of every length have the text that Foundation writes, and are read again", arguments: 0..<70)
    func lengths(_ count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count &* 11) }
        let expected = Data(bytes).base64EncodedString()
        #expect(Base64.text(bytes) == expected)
        #expect(Base64.characterCount(count) == expected.utf8.count)
        #expect(Base64.bytes(expected.utf8) == bytes)
        let url = expected.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        #expect(Base64.text(bytes, .url) == url)
        #expect(Base64.characterCount(count, .url) == url.utf8.count)
        #expect(Base64.bytes(url.utf8, .url) == bytes)
        let secret = SharedSecret(copying: bytes)
        #expect(secret.base64 == SharedSecret(copying: expected.utf8))
        #expect(Self.secret(expected) == secret)
    }

    @Test("Every character of the alphabets is read", arguments: [Base64.Variant.standard, .url])
    func alphabets(_ variant: Base64.Variant) throws {
        let bytes = (UInt8.min...UInt8.max).map { $0 } + [0xFB, 0xFF, 0xBF]
        let text = Base64.text(bytes, variant)
        #expect(Set(text.utf8.filter { $0 != UInt8(ascii: "=") }).count == 64)
        #expect(Base64.bytes(text.utf8, variant) == bytes)
    }

    @Test(
        "A text that is not the one of some bytes is refused",
        arguments: [
            "A", "AA", "AAA", "AA=", "A===", "=", "==", "====", "AAAA=", "AAAA==", "AAAA====", "AAA==", "AA=A", "A=AA",
            "=AAA", "AB==", "AA/=", "AAB=", "AA==AAAA", "AA-_", "AAA\u{C4}", "AAA\u{0}", " AAAA", "AAAA\n", "A A=",
        ])
    func refused(_ text: String) {
        #expect(Base64.bytes(text.utf8) == nil)
        #expect(Self.secret(text) == nil)
    }

    @Test(
        "Without padding, a text that is not the one of some bytes is refused",
        arguments: ["A", "AAAAA", "AB", "AAB", "AA==", "AAA=", "AA+A", "AA/A", "\u{E4}", "AA A"])
    func refusedWithoutPadding(_ text: String) {
        #expect(Base64.bytes(text.utf8, .url) == nil)
    }

    @Test("White space is skipped only where it is asked for, and nothing else is")
    func whiteSpace() {
        let text = " Zm9v\tYm\r\nF\u{B}y\u{C}"
        #expect(Base64.bytes(text.utf8, skipsWhiteSpace: true) == Array("foobar".utf8))
        #expect(Self.secret(text, skipsWhiteSpace: true) == SharedSecret(copying: "foobar".utf8))
        #expect(Base64.bytes("Zg =\n=".utf8, skipsWhiteSpace: true) == Array("f".utf8))
        for wrong in ["Zm9v\u{0}", "Zm9v\u{7F}", "Zm9v\u{A0}", "Zm 9", "Zm9v-"] {
            #expect(Base64.bytes(wrong.utf8, skipsWhiteSpace: true) == nil)
            #expect(Self.secret(wrong, skipsWhiteSpace: true) == nil)
        }
    }

    private static func secret(_ text: String, skipsWhiteSpace: Bool = false) -> SharedSecret? {
        Array(text.utf8).withUnsafeBytes { SharedSecret.ofBase64($0, skipsWhiteSpace: skipsWhiteSpace) }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Keybag
import KeychainTesting
import LinuxSystem
import SecretMemory
import Testing

/// The form of passcodes. Their keys are derived from this form.
@Suite("Normalized text")
struct NormalizedTextTests {
    @Test(
        "All but two lines of Unicode's own test have the form NFKC, and for these Foundation's form is the same")
    func officialTest() throws {
        let list = try Executable.run(
            "/usr/bin/bzcat", ["/usr/share/unicode/NormalizationTest.txt.bz2"], home: "/nonexistent"
        ).output
        var (equal, joined) = (0, 0)
        for line in list.split(separator: "\n") where !line.hasPrefix("#") && !line.hasPrefix("@") {
            let columns = line.split(separator: ";").prefix(5).map(Self.text(ofNumbers:))
            let forms = try columns.map(Self.normalized)
            if forms.allSatisfy({ $0 == Array(columns[3].utf8) }) {
                equal += 1
            } else {
                joined += 1
                for (column, form) in zip(columns, forms) {
                    #expect(form == Array(column.precomposedStringWithCompatibilityMapping.utf8), "\(line)")
                }
            }
        }
        #expect(equal + joined == 19_074)
        #expect(joined == 2)
    }

    @Test("The form and the length of every scalar, alone and before marks, are those of Foundation", .long)
    func everyScalar() throws {
        // Marks of the classes 230 and 220, and a vowel and a consonant of Hangul.
        for suffix in ["", "\u{301}\u{323}", "\u{1161}\u{11A8}"] {
            for first in stride(from: UInt32(0), through: suffix.isEmpty ? 0x10FFFF : 0xFFFF, by: 64) {
                let scalars = (first..<first + 64).compactMap(Unicode.Scalar.init)
                    .filter { suffix.isEmpty || !Self.isDisordered(by: $0) }
                let text = scalars.map { "e\u{327}\($0)\(suffix)" }.joined(separator: "/")
                let expected = text.precomposedStringWithCompatibilityMapping
                let found = try #require(NormalizedText(utf8: SharedSecret(copying: text.utf8)))
                let isSame = found.utf8.withUnsafeBytes { $0.elementsEqual(expected.utf8) }
                if !isSame || found.length != expected.count {
                    Issue.record("from U+\(String(first, radix: 16)) on, before \(suffix)")
                }
            }
        }
    }

    /// Foundation leaves a mark after such a scalar in the wrong place, or replaces the jamos after it by U+FFFD; NFKC
    /// does not.
    private static func isDisordered(by scalar: Unicode.Scalar) -> Bool {
        if ("\u{1113}"..."\u{115F}").contains(scalar) { return true }
        let text = String(scalar)
        let (canonical, compatible) = (
            text.decomposedStringWithCanonicalMapping.unicodeScalars,
            text.decomposedStringWithCompatibilityMapping.unicodeScalars
        )
        return !canonical.elementsEqual(compatible)
            && compatible.last?.properties.canonicalCombiningClass != .notReordered
    }

    @Test("Mixed texts of many scalars have Foundation's form")
    func mixedTexts() throws {
        let marks: [Unicode.Scalar] = ["\u{301}", "\u{323}", "\u{345}", "\u{5B0}", "\u{3099}", "\u{9BE}"]
        let others: [Unicode.Scalar] = [
            "a", "\u{FDFA}", "\u{AC00}", "\u{1100}", "\u{1161}", "\u{11A8}", "\u{304B}", "\u{FB2C}", "\u{FF76}",
            "\u{FF9E}",
            "\u{3131}", "\u{314F}", "\u{9C7}",
        ]
        for _ in 0..<20_000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 1...12) {
                if let scalar = (Bool.random() ? marks : others).randomElement() { text.append(scalar) }
            }
            let expected = String(text).precomposedStringWithCompatibilityMapping
            let found = try Self.normalized(String(text))
            if found != Array(expected.utf8) { Issue.record("\(text.map { String($0.value, radix: 16) })") }
        }
    }

    @Test("KDB-90: a halfwidth mark and a jamo of compatibility stay apart, as when Foundation normalized passcodes")
    func segments() throws {
        #expect(try Self.normalized("\u{FF76}\u{FF9E}") == Array("\u{30AB}\u{3099}".utf8))
        #expect(try Self.normalized("\u{3131}\u{314F}") == Array("\u{1100}\u{1161}".utf8))
        #expect(try Self.normalized("\u{AC00}\u{11A8}") == Array("\u{AC00}\u{11A8}".utf8))
        #expect(try Self.normalized("\u{1100}\u{1161}\u{11A8}") == Array("\u{AC01}".utf8))
        // Foundation takes the first one for its lower 16 bits, an A.
        #expect(try Self.normalized("\u{10041}\u{301}") == Array("\u{10041}\u{301}".utf8))
    }

    @Test("A passcode that Foundation normalized gives the key of that time")
    func frozenKey() throws {
        let text =
            "\u{FF76}\u{FF9E} z\u{30C}lut\u{30C}ouc\u{30C}ky\u{301} \u{AC00}\u{11A8} \u{FB01}n \u{2460} \u{1F511}"
        let parameters = PasscodeParameters(salt: Array(0..<32), cost: PasscodeCost(exponent: 10))
        let key = try PasscodeKey.derive(Passcode(SharedSecret(copying: text.utf8)), parameters)
        // Python's hashlib.scrypt of the UTF-8 of Foundation's form.
        let expected: [UInt8] = [
            0xF0, 0xF0, 0x7D, 0x0C, 0x7A, 0x4F, 0x38, 0x88, 0x35, 0xE1, 0x27, 0x65, 0x5B, 0x3E, 0x9E, 0x79, 0x2B, 0xED,
            0x11, 0xBA, 0x62, 0xE9, 0xCD, 0x9D, 0x79, 0x6A, 0x3A, 0x51, 0xA5, 0x43, 0xD5, 0x36,
        ]
        #expect(key.secret.withUnsafeBytes { Array($0) } == expected)
    }

    @Test(
        "Invalid UTF-8 is refused: an overlong form, a surrogate, a part of a scalar, a scalar that is too large",
        arguments: [
            [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xC3], [0xF4, 0x90, 0x80, 0x80], [0x61, 0xFF], [0x80],
        ] as [[UInt8]])
    func invalid(_ bytes: [UInt8]) {
        #expect(NormalizedText(utf8: SharedSecret(copying: bytes)) == nil)
    }

    @Test("The longest passcodes, of marks in the wrong order and of ligatures of eighteen scalars, are normalized")
    func longest() throws {
        let marks = "a" + String(repeating: "\u{301}\u{323}", count: 255)
        let ligatures = String(repeating: "\u{FDFA}", count: 341)
        for text in [marks, ligatures] {
            let expected = text.precomposedStringWithCompatibilityMapping
            #expect(text.utf8.count <= Passcode.maxCount)
            #expect(try Self.normalized(text) == Array(expected.utf8))
        }
    }

    private static func normalized(_ text: String) throws -> [UInt8] {
        try #require(NormalizedText(utf8: SharedSecret(copying: text.utf8))).utf8.withUnsafeBytes { Array($0) }
    }

    private static func text(ofNumbers numbers: Substring) -> String {
        String(
            String.UnicodeScalarView(
                numbers.split(separator: " ").compactMap { UInt32($0, radix: 16).flatMap(Unicode.Scalar.init) }))
    }
}

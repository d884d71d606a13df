// SPDX-License-Identifier: Apache-2.0

@testable import LatchkeyCommands
import SecretMemory
import Testing

/// The random passwords of `latchkey generate`.
@Suite("Generated passwords")
struct PasswordGeneratorTests {
    @Test(
        "of all byte values, each character of an alphabet is chosen by the same number, and the others are rejected",
        arguments: ["ab", "0123456789", "abc", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"])
    func rejection(alphabet: String) throws {
        let generator = try PasswordGenerator(alphabet: alphabet)
        let share = 256 / alphabet.count
        // Exactly as many characters as one pass through all byte values gives.
        let bytes = Self.bytes(generator.generate(length: share * alphabet.count, from: Self.allValues()))
        for character in alphabet.utf8 { #expect(bytes.count { $0 == character } == share) }
    }

    @Test("an alphabet of 256 characters of several bytes uses each byte value once")
    func wideAlphabet() throws {
        let alphabet = String(String.UnicodeScalarView((0..<256).compactMap { Unicode.Scalar(0x4E00 + $0) }))
        let generator = try PasswordGenerator(alphabet: alphabet)
        let text = String(
            decoding: Self.bytes(generator.generate(length: 256, from: Self.allValues())), as: UTF8.self)
        #expect(text == String(alphabet.reversed()))
        #expect(generator.entropy(length: 10) == 80)
    }

    @Test("random characters have the frequencies of a uniform choice")
    func frequencies() {
        // 200,000 characters of 62: the statistic has the mean 61 and the standard deviation 11. A
        // uniform choice exceeds 200 with a probability below 1e-15.
        let count = 200_000
        var found = [UInt8: Int]()
        for byte in Self.bytes(PasswordGenerator.plain.generate(length: count)) { found[byte, default: 0] += 1 }
        let expected = Double(count) / 62
        #expect(found.count == 62)
        #expect(found.values.reduce(0.0) { $0 + (Double($1) - expected) * (Double($1) - expected) / expected } < 200)
    }

    @Test("a password has the requested length, and two passwords differ", arguments: [1, 24, 65, 1024])
    func lengths(length: Int) {
        for generator in [PasswordGenerator.plain, .withSymbols] {
            let first = generator.generate(length: length)
            #expect(first.count == length)
            if length >= 24 { #expect(first != generator.generate(length: length)) }
        }
        #expect(PasswordGenerator.plain.count == 62 && PasswordGenerator.withSymbols.count == 90)
        #expect(Int(PasswordGenerator.plain.entropy(length: 24)) == 142)
    }

    @Test(
        "an alphabet of one character, of equal ones, of too many or of control characters is refused",
        arguments: ["", "a", "aa", "aba", "a\n", "a\u{202E}"])
    func alphabets(alphabet: String) {
        #expect(throws: CommandFailure.self) { try PasswordGenerator(alphabet: alphabet) }
    }

    /// Returns a source that repeats all byte values, the largest first: those that must be
    /// rejected come before the others.
    private static func allValues() -> (UnsafeMutableRawBufferPointer) -> Void {
        var next: UInt8 = 255
        return { buffer in
            for index in buffer.indices {
                buffer[index] = next
                next &-= 1
            }
        }
    }

    private static func bytes(_ secret: SharedSecret) -> [UInt8] { secret.withUnsafeBytes { Array($0) } }
}

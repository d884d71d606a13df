// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem
internal import SecretMemory

/// Generates random passwords: each character is chosen from the alphabet independently, and each
/// with the same probability.
struct PasswordGenerator: Sendable {
    /// The characters as UTF-8: 2 to 256 different ones.
    private let characters: [[UInt8]]

    /// The letters and digits of ASCII.
    static let plain = PasswordGenerator(
        characters: Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8).map { [$0] })

    /// The letters, digits and punctuation of ASCII, without quotes and the backslash, because shells and configuration
    /// files treat these specially.
    static let withSymbols = PasswordGenerator(
        characters: plain.characters + Array("!#$%&()*+,-./:;<=>?@[]^_{|}~".utf8).map { [$0] })

    /// - Parameter alphabet: 2 to 256 different printable characters.
    /// - Throws: errSecParam for another alphabet. A character that occurs twice would be chosen
    ///   more often than the others.
    init(alphabet: String) throws(CommandFailure) {
        let scalars = alphabet.unicodeScalars
        guard (2...256).contains(scalars.count) else {
            throw .parameter("the alphabet must have 2 to 256 characters, but has \(scalars.count)")
        }
        guard scalars.allSatisfy(PrintableText.isPrintable) else {
            throw .parameter("the alphabet must consist of printable characters")
        }
        guard Set(scalars).count == scalars.count else {
            throw .parameter("a character is in the alphabet twice; every character must be different")
        }
        self.init(characters: scalars.map { Array(String($0).utf8) })
    }

    private init(characters: [[UInt8]]) {
        self.characters = characters
    }

    /// The number of different characters.
    var count: Int { characters.count }

    /// Returns the entropy of a password of this many characters, in bits.
    func entropy(length: Int) -> Double {
        Double(length) * log2(Double(count))
    }

    /// Returns a password.
    ///
    /// A random byte selects a character by its remainder. Bytes from the largest multiple of the
    /// number of characters on are rejected, because they would favor the first characters.
    ///
    /// - Parameters:
    ///   - length: the number of characters.
    ///   - fill: the source of random bytes.
    func generate(
        length: Int, from fill: (UnsafeMutableRawBufferPointer) -> Void = RandomBytes.fill
    ) -> SharedSecret {
        let end = 256 - 256 % count
        let width = characters.map(\.count).max() ?? 1
        var filled = 0
        let password = SecretBytes(count: length * width) { password in
            let noise = SecretBuffer(count: Self.noiseLength)
            var chosen = 0
            while chosen < length {
                noise.withUnsafeMutableBytes { bytes in
                    fill(bytes)
                    for byte in bytes where Int(byte) < end && chosen < length {
                        for unit in characters[Int(byte) % count] {
                            password[filled] = unit
                            filled += 1
                        }
                        chosen += 1
                    }
                }
            }
        }
        return password.withUnsafeBytes {
            SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0.prefix(filled))))
        }
    }

    private static let noiseLength = 64
}

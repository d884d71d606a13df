// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// The words that pam_latchkey writes to the command: each after its length, a big-endian number of 32 bits.
enum LoginWords {
    /// The longest word, in bytes. PAM/login_command.h has the same number.
    static let maxLength = 1024

    /// Reads standard input to its end.
    ///
    /// - Throws: errSecParam if it is not `count` words.
    static func read(_ count: Int, from io: any CommandIO) throws(KeychainError) -> [SharedSecret] {
        guard let input = try io.readInput(maxCount: count * (lengthSize + maxLength)) else { throw malformed(count) }
        guard let words = input.withUnsafeBytes({ decode($0) }), words.count == count else { throw malformed(count) }
        return words
    }

    /// Returns nil if the bytes are not words.
    private static func decode(_ bytes: UnsafeRawBufferPointer) -> [SharedSecret]? {
        var words: [SharedSecret] = []
        var fields = FieldReader(bytes)
        while !fields.isAtEnd {
            guard let length: UInt32 = fields.number(), length <= maxLength, let word = fields.memory(Int(length))
            else { return nil }
            words.append(SharedSecret(SecretBytes(copying: word)))
        }
        return words
    }

    private static func malformed(_ count: Int) -> KeychainError {
        KeychainError(.param, "expected \(count == 1 ? "1 word" : "\(count) words") after its length on standard input")
    }

    private static let lengthSize = 4
}

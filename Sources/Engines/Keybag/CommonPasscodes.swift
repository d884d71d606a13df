// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

extension Passcode {
    /// Why this passcode is among the first guesses of an attacker; nil if it is not known to be.
    public var weakness: Weakness? {
        if isOneCharacter { return .oneCharacter }
        return isSequence || isCommon ? .common : nil
    }

    /// Why a passcode is easy to guess.
    public enum Weakness: Sendable {
        /// The passcode repeats one character.
        case oneCharacter
        /// The passcode is on published lists of common passcodes, or is a sequence such as
        /// `abcdef` or `87654321`.
        case common
    }

    private var isOneCharacter: Bool {
        bytes.withUnsafeBytes { bytes in
            // Compares each scalar's bytes with those of the first scalar. The length of the first scalar must divide
            // the count.
            let width = bytes.dropFirst().prefix { $0 & 0xC0 == 0x80 }.count + 1
            return bytes.indices.allSatisfy { bytes[$0] == bytes[$0 % width] }
        }
    }

    private var isSequence: Bool {
        bytes.withUnsafeBytes { bytes in
            let steps = zip(bytes, bytes.dropFirst()).map { Int(Self.lowercase($1)) - Int(Self.lowercase($0)) }
            return [1, -1].contains { step in steps.allSatisfy { $0 == step } }
        }
    }

    private var isCommon: Bool {
        bytes.withUnsafeBytes { bytes in
            Self.common.contains { word in
                word.utf8.count == bytes.count && zip(word.utf8, bytes).allSatisfy { $0 == Self.lowercase($1) }
            }
        }
    }

    /// Returns the lowercase form of an ASCII letter; other bytes are unchanged.
    private static func lowercase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// The most common passcodes of published lists with at least ``minLength`` characters, in
    /// lowercase, and the passcodes in this project's examples.
    private static let common = [
        "000000", "102030", "111222", "112233", "121212", "123123", "123123123", "123321", "1234567890", "12341234",
        "123454321",
        "1234qwer",
        "123654", "123qwe", "131313", "142536", "147258", "147258369", "159357", "159753", "1q2w3e", "1q2w3e4r",
        "1q2w3e4r5t", "1qaz2wsx",
        "222222", "232323", "246810", "252525", "456456", "654321", "696969", "741852963", "753951", "789456",
        "789456123", "789789",
        "987654321", "999999", "a1b2c3", "a123456", "aa123456", "aa12345678", "abc123", "abc12345", "abcd1234",
        "access", "admin1",
        "admin123",
        "administrator", "andrew", "arsenal", "asdasd", "asdf1234", "asdfgh", "asdfghjkl", "ashley", "bailey",
        "baseball", "batman",
        "changeme", "changeit", "charlie", "chelsea", "chocolate", "computer", "correct horse battery staple",
        "correcthorsebatterystaple",
        "cookie", "daniel", "default", "donald", "dragon", "eminem", "flower", "football", "freedom", "fuckyou",
        "george", "ginger",
        "hannah",
        "hello1", "hello123", "helloworld", "hockey", "hunter", "hunter2", "iloveyou", "internet", "jennifer",
        "jessica", "jordan",
        "joshua",
        "keychain", "killer", "latchkey", "letmein", "letmein1", "liverpool", "login1", "lovely", "loveme", "maggie",
        "master", "matrix",
        "matthew", "michael", "michelle", "monkey", "mustang", "naruto", "nicole", "passcode", "passphrase", "passw0rd",
        "p@ssw0rd",
        "p@ssword", "password", "password!", "password1", "password12", "password123", "password1234", "pepper",
        "pokemon", "princess",
        "purple", "q1w2e3r4", "q1w2e3r4t5", "qazwsx", "qazwsxedc", "qwe123", "qweasd", "qweasdzxc", "qwer1234",
        "qwerty", "qwerty1",
        "qwerty12", "qwerty123", "qwerty12345", "qwertyui", "qwertyuiop", "qwertz", "ranger", "samsung", "secret",
        "secret1", "secret123",
        "shadow", "silver", "soccer", "starwars", "summer", "sunshine", "superman", "taylor", "test123", "test1234",
        "testing", "thomas",
        "tigger", "trustno1", "unknown", "welcome", "welcome1", "welcome123", "whatever", "william", "winter",
        "yankees", "zaq12wsx",
        "zxcvbn", "zxcvbnm", "azerty", "azertyuiop", "motdepasse", "passwort", "hallo123", "contrasena", "senha123",
    ]
}

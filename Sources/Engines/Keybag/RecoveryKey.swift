// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// The recovery key R: 16 random bytes. When the passcode or the device key is lost, they open the keys that may leave
/// the device.
///
/// Its text has 32 characters of Crockford's base 32 in groups of four; the last bits are a
/// checksum. Case, blanks and hyphens are ignored; I and L are read as 1, O as 0.
public final class RecoveryKey: Sendable {
    private let secret: SecretBytes

    private init(_ secret: consuming SecretBytes) {
        self.secret = secret
    }

    public static func random() -> RecoveryKey {
        RecoveryKey(.random(count: length))
    }

    func withSecret<Result: ~Copyable>(_ body: (borrowing SecretBytes) -> Result) -> Result {
        body(secret)
    }

    // MARK: Text

    /// The text that the user writes down: `XXXX-XXXX-…`, 39 characters.
    public var text: SharedSecret {
        let whole = SecretBytes(count: Self.length + Self.checksumLength) { buffer in
            secret.withUnsafeBytes { buffer[0..<Self.length].copyBytes(from: $0) }
            buffer[Self.length...].copyBytes(from: Self.checksum(of: secret))
        }
        return SharedSecret(
            SecretBytes(count: Self.textLength) { output in
                whole.withUnsafeBytes { bytes in
                    var position = 0
                    for digit in 0..<Self.digitCount {
                        if digit > 0, digit.isMultiple(of: 4) {
                            output[position] = UInt8(ascii: "-")
                            position += 1
                        }
                        output[position] = Self.digits[Self.bits(of: bytes, digit)]
                        position += 1
                    }
                }
            })
    }

    /// Parses a recovery key.
    ///
    /// - Throws: ``KeybagError/unusableRecoveryKey(_:)`` if the text is not 32 characters of the
    ///   alphabet, or if the checksum does not match.
    public init(text: SharedSecret) throws(KeybagError) {
        let length = Self.length
        var count = 0
        var hasForeign = false
        let whole = SecretBytes(count: length + Self.checksumLength) { buffer in
            text.withUnsafeBytes { characters in
                for character in characters {
                    if Self.separators.contains(character) { continue }
                    guard let value = Self.value(of: character) else {
                        hasForeign = true
                        continue
                    }
                    if count < Self.digitCount {
                        for bit in 0..<5 where value & (16 >> bit) != 0 {
                            let position = count * 5 + bit
                            buffer[position / 8] |= 128 >> (position % 8)
                        }
                    }
                    count += 1
                }
            }
        }
        guard !hasForeign else {
            throw .unusableRecoveryKey("it contains a character that is not allowed in a recovery key")
        }
        guard count == Self.digitCount else {
            throw .unusableRecoveryKey("it has \(count) letters and digits, expected \(Self.digitCount)")
        }
        let secret = whole.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[0..<length])) }
        let found = whole.withUnsafeBytes { Array($0[length...]) }
        guard found == Self.checksum(of: secret) else {
            throw .unusableRecoveryKey("its checksum does not match: a character is wrong")
        }
        self.secret = secret
    }

    /// Returns a checksum that detects typing errors. It authenticates nothing, and reveals 32 bits
    /// of a hash of 128 random bits.
    private static func checksum(of secret: borrowing SecretBytes) -> [UInt8] {
        KeybagCryptography.derive(from: secret, label: "latchkey v1 recovery checksum").withUnsafeBytes {
            Array($0.prefix(checksumLength))
        }
    }

    /// Returns the five bits of a digit, counted from the first bit.
    private static func bits(of bytes: UnsafeRawBufferPointer, _ digit: Int) -> Int {
        (0..<5).reduce(0) { value, bit in
            let position = digit * 5 + bit
            return value << 1 | Int(bytes[position / 8] >> (7 - UInt8(position % 8)) & 1)
        }
    }

    private static func value(of character: UInt8) -> UInt8? {
        let upper = (0x61...0x7A).contains(character) ? character - 0x20 : character
        switch upper {
        case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
        case UInt8(ascii: "O"): return 0
        default: return digits.firstIndex(of: upper).map(UInt8.init)
        }
    }

    private static let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    private static let separators = Array("- \t\r\n".utf8)
    private static let length = 16
    private static let checksumLength = 4
    private static let digitCount = 32
    private static let textLength = digitCount + digitCount / 4 - 1
}

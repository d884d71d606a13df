// SPDX-License-Identifier: Apache-2.0

/// Base64 (RFC 4648). Bytes have one text: the alphabet alone, complete padding or none, and zeros in the bits
/// behind the last byte.
///
/// For secrets there are the functions that read and write the memory of the caller.
public enum Base64 {
    public enum Variant: Sendable {
        /// With padding (section 4).
        case standard
        /// The alphabet for URLs and names of files, without padding (section 5).
        case url

        fileprivate var isPadded: Bool { self == .standard }
        fileprivate var alphabet: [UInt8] { self == .standard ? Base64.alphabet : Base64.urlAlphabet }
        fileprivate var values: [UInt8] { self == .standard ? Base64.values : Base64.urlValues }
    }

    // MARK: Writing

    /// Returns the text of bytes.
    public static func text(_ bytes: some Collection<UInt8>, _ variant: Variant = .standard) -> String {
        let bytes = Array(bytes)
        return String(unsafeUninitializedCapacity: characterCount(bytes.count, variant)) { text in
            bytes.withUnsafeBytes { write($0, to: UnsafeMutableRawBufferPointer(text), variant) }
        }
    }

    /// Writes the text of `bytes` to `text`. Its size must be at least ``characterCount(_:_:)``.
    ///
    /// - Returns: that number.
    @discardableResult
    public static func write(
        _ bytes: UnsafeRawBufferPointer, to text: UnsafeMutableRawBufferPointer, _ variant: Variant = .standard
    ) -> Int {
        precondition(text.count >= characterCount(bytes.count, variant), "the memory has no room for the text")
        let alphabet = variant.alphabet
        var (held, heldBits, filled) = (UInt32(0), UInt32(0), 0)
        func put(_ character: UInt8) {
            text[filled] = character
            filled += 1
        }
        for byte in bytes {
            held = held << 8 | UInt32(byte)
            heldBits += 8
            while heldBits >= 6 {
                heldBits -= 6
                put(alphabet[Int(held >> heldBits & 63)])
            }
        }
        if heldBits > 0 { put(alphabet[Int(held << (6 - heldBits) & 63)]) }
        while variant.isPadded, !filled.isMultiple(of: 4) { put(padding) }
        return filled
    }

    /// The number of characters for this number of bytes.
    public static func characterCount(_ bytes: Int, _ variant: Variant = .standard) -> Int {
        variant.isPadded ? (bytes + 2) / 3 * 4 : (bytes * 4 + 2) / 3
    }

    // MARK: Reading

    /// Returns the bytes of a text; nil for one that ``text(_:_:)`` does not write.
    ///
    /// - Parameter skipsWhiteSpace: whether spaces, tabs and line ends may stand anywhere.
    public static func bytes(
        _ text: some Collection<UInt8>, _ variant: Variant = .standard, skipsWhiteSpace: Bool = false
    ) -> [UInt8]? {
        let text = Array(text)
        var isValid = false
        let bytes = [UInt8](unsafeUninitializedCapacity: maxByteCount(text.count)) { bytes, filled in
            let count = text.withUnsafeBytes {
                read($0, to: UnsafeMutableRawBufferPointer(bytes), variant, skipsWhiteSpace: skipsWhiteSpace)
            }
            (isValid, filled) = (count != nil, count ?? 0)
        }
        return isValid ? bytes : nil
    }

    /// Writes the bytes of a text to `bytes`. Its size must be at least ``maxByteCount(_:)``.
    ///
    /// - Returns: the number of bytes; nil, with some of them written, for a text that
    ///   ``write(_:to:_:)`` does not write.
    public static func read(
        _ text: UnsafeRawBufferPointer, to bytes: UnsafeMutableRawBufferPointer, _ variant: Variant = .standard,
        skipsWhiteSpace: Bool = false
    ) -> Int? {
        precondition(bytes.count >= maxByteCount(text.count), "the memory has no room for the bytes")
        let values = variant.values
        var (held, heldBits, filled) = (UInt32(0), UInt32(0), 0)
        var (characters, paddings) = (0, 0)
        for character in text where !(skipsWhiteSpace && isWhiteSpace(character)) {
            characters += 1
            if variant.isPadded, character == padding {
                paddings += 1
                continue
            }
            let value = values[Int(character)]
            guard value < 64, paddings == 0 else { return nil }
            held = held << 6 | UInt32(value)
            heldBits += 6
            guard heldBits >= 8 else { continue }
            heldBits -= 8
            bytes[filled] = UInt8(truncatingIfNeeded: held >> heldBits)
            filled += 1
        }
        // Other bits would give the same bytes several texts, and six bits are no byte.
        guard heldBits < 6, held & (1 << heldBits - 1) == 0 else { return nil }
        guard !variant.isPadded || characters.isMultiple(of: 4) && paddings < 3 else { return nil }
        return filled
    }

    /// The most bytes that so many characters stand for.
    public static func maxByteCount(_ characters: Int) -> Int { characters / 4 * 3 + characters % 4 * 3 / 4 }

    private static func isWhiteSpace(_ character: UInt8) -> Bool { character == 0x20 || 0x09...0x0D ~= character }

    private static let padding = UInt8(ascii: "=")
    private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let alphabet = Array("\(letters)+/".utf8)
    private static let urlAlphabet = Array("\(letters)-_".utf8)
    private static let values = values(of: alphabet)
    private static let urlValues = values(of: urlAlphabet)

    /// The value of each of the 256 bytes in an alphabet; 255 for the others.
    private static func values(of alphabet: [UInt8]) -> [UInt8] {
        (UInt8.min...UInt8.max).map { byte in alphabet.firstIndex(of: byte).map { UInt8($0) } ?? .max }
    }
}

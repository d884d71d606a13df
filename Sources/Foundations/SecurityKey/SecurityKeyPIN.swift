// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// The PIN of a security key: 4 to 63 bytes of UTF-8 without a null character (CTAP 2.1, 6.5.1).
public struct SecurityKeyPIN: Sendable {
    /// The characters, and the null character that ends a C string.
    private let characters: SharedSecret

    /// - Throws: ``SecurityKeyError/invalidPIN`` if a PIN cannot have this length or this content.
    ///   The device does not count this as an attempt.
    public init(_ text: SharedSecret) throws(SecurityKeyError) {
        let isValid = text.withUnsafeBytes { bytes in
            Self.lengths.contains(bytes.count) && !bytes.contains(0) && String(validating: bytes, as: UTF8.self) != nil
        }
        guard isValid else { throw .invalidPIN }
        characters = SharedSecret(
            SecretBytes(count: text.count + 1) { buffer in text.withUnsafeBytes { buffer.copyBytes(from: $0) } })
    }

    /// The permitted lengths in bytes.
    static let lengths = 4...63

    /// Calls `body` with the PIN as a C string.
    func withCString<Result>(_ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        characters.withUnsafeBytes { body($0.assumingMemoryBound(to: CChar.self).baseAddress) }
    }
}

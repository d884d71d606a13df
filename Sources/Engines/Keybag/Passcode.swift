// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// A passcode in its normalized form: UTF-8 of its NFKC normalization (Unicode Standard Annex #15),
/// so that the same characters are the same passcode on every keyboard.
public struct Passcode: Sendable {
    let bytes: SharedSecret
    /// The number of characters as users perceive them (grapheme clusters).
    public let length: Int

    /// Creates a passcode that can be tried.
    ///
    /// - Throws: ``KeybagError/unusablePasscode(_:)`` if it is empty, too long or not UTF-8.
    public init(_ rawPasscode: SharedSecret) throws(KeybagError) {
        guard rawPasscode.count > 0 else { throw .unusablePasscode("it is empty") }
        guard rawPasscode.count <= Self.maxCount else {
            throw .unusablePasscode("it has \(rawPasscode.count) bytes, the maximum is \(Self.maxCount)")
        }
        guard let normalized = NormalizedText(utf8: rawPasscode) else {
            throw .unusablePasscode("it is not UTF-8 text")
        }
        bytes = normalized.utf8
        length = normalized.length
    }

    /// Throws if the passcode is too short to be set. An existing one may be shorter.
    public func requireNew(minLength: Int = Passcode.minLength) throws(KeybagError) {
        guard length >= minLength else {
            throw .unusablePasscode("it has \(length) characters, a new one must have at least \(minLength)")
        }
    }

    /// Whether the passcode is so short that an attacker with the files may guess it.
    public var isShort: Bool { length < Self.safeLength }

    /// The minimum number of characters of a new passcode.
    public static let minLength = 6
    /// The minimum number of characters without a warning to the user.
    public static let safeLength = 15
    /// The maximum number of bytes.
    public static let maxCount = 1024
}

// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import SecretMemory

/// A passcode as it was typed, in the form in which it counts: UTF-8 of its NFKC normalisation (Unicode Standard Annex #15), so that the same
/// characters are the same passcode on every keyboard.
public struct Passcode: Sendable {
    let bytes: SharedSecret
    /// The number of characters, as people count them.
    public let length: Int

    /// Any passcode that can be tried.
    ///
    /// - Throws: ``KeybagError/unusablePasscode(_:)`` where it is empty, too long or no UTF-8.
    public init(_ rawPasscode: SharedSecret) throws(KeybagError) {
        guard rawPasscode.count > 0 else { throw .unusablePasscode("it is empty") }
        guard rawPasscode.count <= Self.maxCount else {
            throw .unusablePasscode("it has \(rawPasscode.count) bytes, and at most \(Self.maxCount) are taken")
        }
        let isASCII = rawPasscode.withUnsafeBytes { $0.allSatisfy { $0 < 0x80 } }
        if isASCII {
            bytes = rawPasscode
            length = rawPasscode.count
            return
        }
        // Normalising needs the library's strings, whose memory is not wiped; passcodes of ASCII never pass here.
        guard let text = rawPasscode.withUnsafeBytes({ String(validating: $0, as: UTF8.self) }) else {
            throw .unusablePasscode("it is not UTF-8 text")
        }
        var normal = text.precomposedStringWithCompatibilityMapping
        bytes = normal.withUTF8 { SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer($0))) }
        length = normal.count
    }

    /// Refuses a passcode that is too short to be set. An old one may be shorter.
    public func requireNew() throws(KeybagError) {
        guard length >= Self.minLength else {
            throw .unusablePasscode("it has \(length) characters, and a new one needs at least \(Self.minLength)")
        }
    }

    /// Whether it is so short that a thief of the files may guess it.
    public var isShort: Bool { length < Self.safeLength }

    /// The least number of characters of a new passcode.
    public static let minLength = 6
    /// Below this number of characters, people are warned.
    public static let safeLength = 15
    /// The greatest number of bytes.
    public static let maxCount = 1024
}

// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// A part of the content of a file that the keychain stores.
public struct StoredFilePart: Sendable {
    /// At most ``maxLength`` bytes; fewer than requested only at the end of the file.
    public let content: SharedSecret
    /// The length of the whole content, in bytes.
    public let length: UInt64
    /// Identifies the content, 16 bytes: it is another one after the file was stored again.
    public let version: [UInt8]

    /// The longest part: 256 KiB.
    public static let maxLength = 256 << 10

    public init(_ content: SharedSecret, length: UInt64, version: [UInt8]) {
        (self.content, self.length, self.version) = (content, length, version)
    }
}

extension ItemAttribute {
    /// The description (kSecAttrDescription) of an item that stands for a stored file.
    public static let storedFileDescription = "file"
}

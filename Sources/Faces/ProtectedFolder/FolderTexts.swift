// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import SecretMemory
internal import UserspaceFileSystem

/// The texts that a folder encrypts beside the content of its files: names, the targets of symbolic links and extended
/// attributes.
final class FolderTexts: Sendable {
    /// The longest name, in bytes: encrypted and encoded it has 255 characters.
    static let maxNameLength = 175

    private let names: TextCipher
    private let targets: TextCipher
    private let attributeNames: TextCipher
    private let attributeValues: TextCipher

    init(_ secret: SharedSecret) {
        names = TextCipher(.name, secret)
        targets = TextCipher(.target, secret)
        attributeNames = TextCipher(.attributeName, secret)
        attributeValues = TextCipher(.attributeValue, secret)
    }

    // MARK: Names

    func stored(_ name: FileName) throws(FileSystemError) -> String {
        guard name.bytes.count <= Self.maxNameLength else { throw .nameTooLong }
        return try Self.encode(name.bytes, names)
    }

    /// Returns the name of a stored file; nil if it is not one of this folder's.
    func name(_ stored: some Collection<UInt8>) -> FileName? {
        Base64.bytes(stored, .url).flatMap(names.open).flatMap { FileName($0) }
    }

    // MARK: Targets

    /// The longest target of a symbolic link, so that the stored one has at most 4,095 characters.
    private static let maxTargetLength = 3055

    func stored(target: [UInt8]) throws(FileSystemError) -> String {
        guard target.count <= Self.maxTargetLength else { throw .nameTooLong }
        return try Self.encode(target, targets)
    }

    func target(_ stored: [UInt8]) throws(FileSystemError) -> [UInt8] {
        guard let target = Base64.bytes(stored, .url).flatMap(targets.open), !target.isEmpty, !target.contains(0) else {
            throw .inputOutput
        }
        return target
    }

    /// Returns the length of a link's target from the number of characters of the stored target.
    static func targetLength(stored count: UInt64) -> UInt64 {
        let count = UInt64(Base64.maxByteCount(Int(clamping: min(count, 1 << 16))))
        return count - min(count, UInt64(TextCipher.overhead))
    }

    // MARK: Attributes

    func stored(attribute name: [UInt8]) throws(FileSystemError) -> String {
        let text = Self.attributePrefix + (try Self.encode(name, attributeNames))
        guard text.utf8.count <= 255 else { throw .nameTooLong }
        return text
    }

    /// Returns the name of a stored attribute; nil if it is not one of this folder's.
    func attribute(_ stored: [UInt8]) -> [UInt8]? {
        guard stored.starts(with: Self.attributePrefix.utf8) else { return nil }
        return Base64.bytes(stored.dropFirst(Self.attributePrefix.utf8.count), .url).flatMap(attributeNames.open)
    }

    /// Encrypts a value together with the name, so that values cannot be exchanged:
    /// `SIV(random 16 bytes ‖ length of the name ‖ name ‖ value)`. The random bytes hide whether values are equal.
    func stored(value: [UInt8], of name: [UInt8], random: [UInt8]) throws(FileSystemError) -> [UInt8] {
        guard let sealed = attributeValues.seal(random + [UInt8(clamping: name.count)] + name + value) else {
            throw .inputOutput
        }
        return sealed
    }

    func value(_ stored: [UInt8], of name: [UInt8]) throws(FileSystemError) -> [UInt8] {
        guard let opened = attributeValues.open(stored), opened.count > Self.randomLength + name.count,
            opened[Self.randomLength] == UInt8(clamping: name.count),
            opened.dropFirst(Self.randomLength + 1).starts(with: name)
        else { throw .inputOutput }
        return Array(opened.dropFirst(Self.randomLength + 1 + name.count))
    }

    static let randomLength = 16
    private static let attributePrefix = "user.latchkey."

    private static func encode(_ text: [UInt8], _ cipher: TextCipher) throws(FileSystemError) -> String {
        guard let sealed = cipher.seal(text) else { throw .inputOutput }
        return Base64.text(sealed, .url)
    }
}

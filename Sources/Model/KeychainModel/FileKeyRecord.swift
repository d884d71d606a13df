// SPDX-License-Identifier: Apache-2.0

package import LinuxSystem

/// The key record of a protected file: the class key that wraps the file key, and the wrapped key. It is the readable
/// part of the file's header.
///
/// Format: Documentation/Formats/protected-file.md, "Key record".
public struct FileKeyRecord: Hashable, Sendable {
    /// The properties to which a file key is bound.
    public struct Binding: Hashable, Sendable {
        /// The UUID of the keychain that made the class key: 16 bytes.
        public let keychain: [UInt8]
        public let protection: FileProtectionClass
        /// The generation of the class key.
        public let generation: UInt32
        /// The identifier of the file: 16 random bytes.
        public let file: [UInt8]
        /// The access group of the file.
        public let group: AccessGroup

        /// - Returns: nil if an identifier has not 16 bytes, if no program can have the group, or if its
        ///   name is empty or longer than 512 bytes.
        public init?(
            keychain: [UInt8], protection: FileProtectionClass, generation: UInt32, file: [UInt8], group: AccessGroup
        ) {
            guard keychain.count == FileKeyRecord.identifierLength, file.count == FileKeyRecord.identifierLength,
                group.grade != .service, 1...FileKeyRecord.maxGroupLength ~= group.name.utf8.count
            else { return nil }
            self.keychain = keychain
            self.protection = protection
            self.generation = generation
            self.file = file
            self.group = group
        }

        /// The bytes that the wrapping of the key authenticates.
        public var encoded: [UInt8] {
            var bytes = keychain + [protection.rawValue]
            bytes.append(bigEndian: generation)
            bytes += file + [group.grade.rawValue]
            bytes.append(bigEndian: UInt16(group.name.utf8.count))
            return bytes + Array(group.name.utf8)
        }
    }

    public let binding: Binding
    /// The ephemeral public key of class B, uncompressed (X9.63): 65 bytes; empty for other classes.
    public let ephemeralKey: [UInt8]
    /// The file key, wrapped with AES-KW: 40 bytes.
    public let wrappedKey: [UInt8]

    /// The longest name of an access group, in bytes of UTF-8.
    public static let maxGroupLength = 512
    static let identifierLength = 16
    static let ephemeralLength = 65
    static let wrappedLength = 40

    /// - Returns: nil if a key has another length than its class requires.
    public init?(_ binding: Binding, ephemeralKey: [UInt8], wrappedKey: [UInt8]) {
        let expected = binding.protection == .completeUnlessOpen ? Self.ephemeralLength : 0
        guard ephemeralKey.count == expected, wrappedKey.count == Self.wrappedLength else { return nil }
        self.binding = binding
        self.ephemeralKey = ephemeralKey
        self.wrappedKey = wrappedKey
    }

    /// The bytes of the record in the header and in messages.
    public var encoded: [UInt8] { binding.encoded + ephemeralKey + wrappedKey }

    /// Decodes a record from all of the bytes.
    public init?(decoding bytes: [UInt8]) {
        var reader = FieldReader(bytes)
        self.init(&reader)
        guard reader.remaining == 0 else { return nil }
    }

    /// Reads a record; nil for anything that ``encoded`` does not write.
    package init?(_ reader: inout FieldReader<ArraySlice<UInt8>>) {
        guard let keychain = reader.bytes(Self.identifierLength), let classCode: UInt8 = reader.number(),
            let protection = FileProtectionClass(rawValue: classCode), let generation: UInt32 = reader.number(),
            let file = reader.bytes(Self.identifierLength), let gradeCode: UInt8 = reader.number(),
            let grade = AccessGroup.Grade(rawValue: gradeCode), let nameLength: UInt16 = reader.number(),
            let name = reader.bytes(Int(nameLength)),
            let group = String(validating: name, as: UTF8.self),
            let binding = Binding(
                keychain: Array(keychain), protection: protection, generation: generation, file: Array(file),
                group: AccessGroup(group, grade: grade)),
            let ephemeral = reader.bytes(protection == .completeUnlessOpen ? Self.ephemeralLength : 0),
            let wrapped = reader.bytes(Self.wrappedLength)
        else { return nil }
        self.init(binding, ephemeralKey: Array(ephemeral), wrappedKey: Array(wrapped))
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// The data of a file's item: the identifier of the file, and the class key of that file alone.
///
/// ```
/// "LKSF" ‖ 1 ‖ file (16 bytes) ‖ class key (32 bytes)
/// ```
struct StoredFileReference {
    /// Identifies the content: it is in the file's name, and in its header.
    let file: [UInt8]
    private let key: SharedSecret

    private static let magic = Array("LKSF".utf8) + [1]
    private static let fileLength = 16
    private static let keyLength = 32

    /// Creates the reference of a new file.
    static func random() -> StoredFileReference {
        StoredFileReference(
            file: RandomBytes.array(count: fileLength), key: SharedSecret(.random(count: keyLength)))
    }

    private init(file: [UInt8], key: SharedSecret) { (self.file, self.key) = (file, key) }

    /// - Returns: nil for other data.
    init?(_ data: SharedSecret?) {
        let length = Self.magic.count + Self.fileLength + Self.keyLength
        guard let data, data.count == length else { return nil }
        let parts = data.withUnsafeBytes { bytes -> ([UInt8], SharedSecret)? in
            guard bytes.starts(with: Self.magic) else { return nil }
            let rest = bytes.dropFirst(Self.magic.count)
            let key = UnsafeRawBufferPointer(rebasing: rest.dropFirst(Self.fileLength))
            return (Array(rest.prefix(Self.fileLength)), SharedSecret(SecretBytes(copying: key)))
        }
        guard let parts else { return nil }
        (file, key) = parts
    }

    /// The data of the item.
    var data: SharedSecret {
        SharedSecret(
            SecretBytes(count: Self.magic.count + Self.fileLength + Self.keyLength) { buffer in
                let head = Self.magic + file
                buffer[..<head.count].copyBytes(from: head)
                key.withUnsafeBytes { buffer[head.count...].copyBytes(from: $0) }
            })
    }

    /// Returns the key of a new file, wrapped by this class key.
    ///
    /// - Returns: nil if the access group has a name that is too long for a file.
    func newKey(
        _ protection: FileProtectionClass, keychain: [UInt8], _ group: AccessGroup
    ) -> ProvidedFileKey? {
        let secret = SharedSecret(.random(count: Self.keyLength))
        guard
            let binding = FileKeyRecord.Binding(
                keychain: keychain, protection: protection, generation: 1, file: file, group: group),
            let record = FileClassKey(protection, key)?.wrap(secret, binding)
        else { return nil }
        return ProvidedFileKey(record, FileKeyCipher(KnownFileKey(secret)))
    }

    /// Returns the cipher of the file.
    ///
    /// - Throws: ``FileProtectionError/wrongKey`` for a header that this class key has not made.
    func cipher(for record: FileKeyRecord) throws(FileProtectionError) -> any ContainerCipher {
        guard record.binding.file == file,
            let secret = FileClassKey(record.binding.protection, key)?.unwrap(record), secret.count == Self.keyLength
        else { throw .wrongKey }
        return FileKeyCipher(KnownFileKey(secret))
    }
}

/// The key of a file for as long as one call lasts.
struct KnownFileKey: FileKeySource {
    private let secret: SharedSecret

    init(_ secret: SharedSecret) { self.secret = secret }

    func key() -> SharedSecret { secret }
}

extension ProtectionClass {
    /// The class of a file if its item has this class.
    var fileProtection: FileProtectionClass {
        switch self {
        case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: .complete
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: .completeUntilFirstUserAuthentication
        case .always, .alwaysThisDeviceOnly: .none
        }
    }
}

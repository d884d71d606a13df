// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// Large data as a file, with its key in the keychain.
///
/// ```swift
/// let scan = GenericPassword(service: "com.example.scans", account: "passport")
/// try keychain.storeFile("passport.tiff", as: scan)
/// let image = try keychain.storedFile(scan).contents()
/// try keychain.delete(scan)                    // the file, too
/// ```
///
/// The file is in the keychain's own directory, encrypted. Its key is in the item, so that it opens
/// when the item does: by class, access group and lock state. `latchkey backup --include-files`
/// saves it.
extension Keychain {
    /// Stores the content of a file. It is durable when this returns; the original is not changed.
    ///
    /// - Parameters:
    ///   - path: a regular file, or a link to one.
    ///   - item: the name of the stored file, and its class. It must have no access control, and is not
    ///     synchronized.
    ///   - replacing: whether a stored file of the same name is replaced.
    /// - Throws: `KeychainError.duplicateItem` if an item of this name exists, and is not a file that is
    ///   to be replaced; `KeychainError.interactionNotAllowed` while the class is closed; errSecDiskFull;
    ///   errSecNotAvailable for a keychain in memory, and if the file is changed meanwhile.
    public func storeFile(
        _ path: String, as item: GenericPassword, replacing: Bool = false
    ) throws(KeychainError) {
        let reader = try PlainFileReader(FilePath(path))
        try item.named { () throws(KeychainError) in
            try store(item, replacing) { () throws(KeychainError) in
                if let part = try reader.next() { return part }
                guard reader.isUnchanged else {
                    throw KeychainError(.notAvailable, "\(path) was changed while it was stored", hint: "try again")
                }
                return nil
            }
        }
    }

    /// Stores bytes as a file.
    ///
    /// - Parameters:
    ///   - bytes: the content.
    ///   - item: as in ``storeFile(_:as:replacing:)-(String,_,_)``.
    ///   - replacing: whether a stored file of the same name is replaced.
    public func storeFile(
        _ bytes: some ContiguousBytes, as item: GenericPassword, replacing: Bool = false
    ) throws(KeychainError) {
        var outcome = Result<Void, KeychainError>.success(())
        bytes.withUnsafeBytes { buffer in
            outcome = Result { () throws(KeychainError) in
                try item.named { () throws(KeychainError) in try store(buffer, as: item, replacing) }
            }
        }
        try outcome.get()
    }

    private func store(
        _ buffer: UnsafeRawBufferPointer, as item: GenericPassword, _ replacing: Bool
    ) throws(KeychainError) {
        var rest = buffer[...]
        try withoutActuallyEscaping({ () throws(KeychainError) -> SharedSecret? in
            guard !rest.isEmpty else { return nil }
            let part = UnsafeRawBufferPointer(rebasing: rest.prefix(StoredFilePart.maxLength))
            rest = rest.dropFirst(part.count)
            return SharedSecret(SecretBytes(copying: part))
        }) { (source) throws(KeychainError) in try store(item, replacing, from: source) }
    }

    private func store(
        _ item: GenericPassword, _ replacing: Bool, from source: @escaping StoredFileSource
    ) throws(KeychainError) {
        var addition = item.addition(data: SharedSecret(copying: []))
        addition.secrets = ItemSecrets()
        addition.accessGroup = accessGroup
        try open().storeFile(addition, replaces: replacing, from: source)
    }

    /// Returns a stored file.
    ///
    /// - Throws: `KeychainError.itemNotFound`; `KeychainError.interactionNotAllowed` while the class is
    ///   closed; errSecParam for an item that is not a file.
    public func storedFile(_ item: GenericPassword) throws(KeychainError) -> StoredFile {
        try item.named { () throws(KeychainError) in try StoredFile(query(for: item), open) }
    }
}

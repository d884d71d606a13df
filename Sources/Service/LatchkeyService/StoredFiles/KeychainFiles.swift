// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import Keybag
public import KeychainModel
internal import KeychainStore
internal import LinuxSystem
internal import SecretMemory

/// The files that a keychain stores, each with an item that has its key.
public struct KeychainFiles: Sendable {
    let keychain: OpenKeychain
    let items: KeychainItems
    let newItems: NewItems
    let sweep: FileSweep

    public func store(
        _ item: ItemAddition, replaces: Bool, from source: @escaping StoredFileSource, caller: CallerIdentity
    ) throws(KeychainError) {
        let reference = StoredFileReference.random()
        let record = try itemRecord(of: item, reference, for: caller)
        let directory = try storedFiles()
        let draft = try StoredFileDraft(
            in: directory, reference, record, keychain: keychain.store.keychainIdentifier, account: keychain.account)
        while let part = try source() { try draft.append(part) }
        try draft.finish()
        do throws(KeychainError) {
            try directory.whilePublishing { () throws(KeychainError) in
                try publish(draft, as: record, replaces: replaces)
            }
        } catch {
            sweep.removeFiles { draft.names.contains($0) && sweep.hasNoUse($0) }
            throw error
        }
        let replaced = Set(draft.names.map(\.item))
        sweep.removeFiles { replaced.contains($0.item) && sweep.isFormerContent($0) }
        // From here on, the file counts as one of the directory.
        withExtendedLifetime(draft) { sweep.accountFiles() }
    }

    /// Gives a file its name, and stores its item: of a crash between the two, only a file is left
    /// that ``FileSweep/removeLeftovers()`` removes.
    private func publish(
        _ draft: StoredFileDraft, as record: ItemRecord, replaces: Bool
    ) throws(KeychainError) {
        let search = ItemSearch(
            .genericPassword, groups: .only([record.accessGroup]),
            attributes: record.attributes.filter { $0.key == .service || $0.key == .account })
        let settings = try ChangeSettings(keychain)
        try keychain.run { () throws(StoreError) in
            try keychain.store.transaction { (items) throws(StoreError) in
                guard let existing = try items.records(of: search).first else {
                    try withErrors(as: StoreError.refused) { () throws(KeychainError) in
                        try draft.publish(for: record.identifier)
                    }
                    guard try items.addUnlessPresent(record) else { throw .duplicate }
                    return
                }
                guard replaces else { throw .duplicate }
                try withErrors(as: StoreError.refused) { () throws(KeychainError) in
                    try draft.publish(for: existing.identifier)
                }
                let update = ItemUpdate(data: draft.reference.data, protection: record.protection)
                try items.update(search) { (old) throws(KeychainError) in
                    guard StoredFileReference(old.secrets?.data) != nil else { throw Self.anotherItem }
                    return try ItemRules.applying(update, to: old, group: nil, settings)
                }
            }
        }
    }

    public func read(
        _ query: ItemQuery, at offset: UInt64, count: Int, version: [UInt8]?, from caller: CallerIdentity
    ) throws(KeychainError) -> StoredFilePart {
        guard (0...StoredFilePart.maxLength).contains(count) else {
            throw .parameter("a part of a stored file has at most \(StoredFilePart.maxLength) bytes")
        }
        let (name, reference, descriptor) = try openFile(query, version, from: caller)
        let path = keychain.home.map { "\($0.filesDirectory)/\(name.text)" } ?? name.text
        do throws(FileProtectionError) {
            let container = try ProtectedContainer(
                opening: try descriptor.descriptor.duplicate(), path: path, isWritable: false, cacheCount: 1,
                cipher: { (record) throws(FileProtectionError) in try reference.cipher(for: record) })
            let length = try container.length
            let available = offset < length ? Int(min(UInt64(count), length - offset)) : 0
            let content = try SecretBytes(count: available) { (buffer) throws(FileProtectionError) in
                _ = try container.read(into: buffer, at: offset)
            }
            return StoredFilePart(SharedSecret(content), length: length, version: reference.file)
        } catch {
            throw KeychainError(error, path: path)
        }
    }

    /// Opens the file of an item. A file that is replaced meanwhile is looked for again.
    private func openFile(
        _ query: ItemQuery, _ version: [UInt8]?, from caller: CallerIdentity
    ) throws(KeychainError) -> (StoredFileName, StoredFileReference, OpenStoredFile) {
        var missing: StoredFileName?
        for _ in 0..<Self.maxSearches {
            let (name, reference) = try find(query, from: caller)
            guard version == nil || version == reference.file else {
                throw KeychainError(
                    .notAvailable, "the file was stored again meanwhile", hint: "read it from its start")
            }
            // It was not replaced: it is missing.
            if missing == name { break }
            missing = name
            if let files = try keychain.existingFiles(),
                let box = try withErrors(
                    as: KeychainError.init(_:), { () throws(SystemError) in try OpenStoredFile(name, in: files) })
            {
                return (name, reference, box)
            }
        }
        throw KeychainError(
            .decode, "the file of the item is missing in \(keychain.home?.filesDirectory ?? "the keychain")",
            hint: "restore it from a backup with files")
    }

    private static let maxSearches = 8

    private func find(
        _ query: ItemQuery, from caller: CallerIdentity
    ) throws(KeychainError) -> (StoredFileName, StoredFileReference) {
        guard query.itemClass ?? .genericPassword == .genericPassword else { throw Self.noFile }
        let found = try items.copyMatching(query, returning: [.data, .persistentReference], from: caller)
        guard !found.isEmpty else { throw .itemNotFound }
        guard let record = found.records.first else {
            throw KeychainError(.decode, "the item is damaged", hint: "latchkey doctor")
        }
        guard let reference = StoredFileReference(record.secrets?.data) else { throw Self.noFile }
        return (StoredFileName(item: record.identifier, file: reference.file), reference)
    }

    // MARK: Checks

    /// Returns the record of a file's item, after every check that needs no content.
    private func itemRecord(
        of item: ItemAddition, _ reference: StoredFileReference, for caller: CallerIdentity
    ) throws(KeychainError) -> ItemRecord {
        guard item.itemClass == .genericPassword, item.secrets.data == nil, item.secrets.attributes.isEmpty,
            item.accessControlFlags == nil, !item.isSynchronizable
        else {
            throw .parameter(
                "the item of a file is a generic password without data, synchronization and access control")
        }
        var item = item
        item.secrets.data = reference.data
        item.attributes[.itemDescription] = .string(ItemAttribute.storedFileDescription)
        let record = try newItems.record(of: item, for: try Authorizer.authorize(caller))
        try keychain.run { () throws(StoreError) in
            _ = try keychain.store.refresh()
            guard keychain.store.isOpen(record.protection) else { throw .keybag(.closed(record.protection)) }
        }
        return record
    }

    private static let anotherItem = KeychainError(
        .duplicateItem, "an item of this name exists, and is not a file", hint: "choose another name")

    private static let noFile = KeychainError(.param, "the item is not a file that the keychain stores")

    // MARK: The directory

    private func storedFiles() throws(KeychainError) -> StoredFileDirectory {
        guard let home = keychain.home else {
            throw KeychainError(.notAvailable, "a keychain in memory stores no files")
        }
        return try withErrors(as: KeychainError.init(_:)) { () throws(SystemError) in
            try StoredFileDirectory(creatingIn: home)
        }
    }
}

/// An open file, for a tuple, because tuples cannot have noncopyable elements.
private final class OpenStoredFile {
    let descriptor: OwnedDescriptor

    /// - Returns: nil if the file does not exist.
    init?(_ name: StoredFileName, in files: StoredFileDirectory) throws(SystemError) {
        guard let opened = try files.open(name) else { return nil }
        descriptor = opened
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import Keybag
public import KeychainModel
internal import KeychainStore
internal import LinuxSystem
internal import SecretMemory

extension EmbeddedService {
    public func storeFile(
        _ item: ItemAddition, replaces: Bool, from source: @escaping StoredFileSource, caller: CallerIdentity
    ) throws(KeychainError) {
        let reference = StoredFileReference.random()
        let record = try itemRecord(of: item, reference, for: caller)
        let directory = try storedFiles()
        let draft = try StoredFileDraft(
            in: directory, reference, record, keychain: store.keychainIdentifier, maxSize: maxFilesSize)
        while let part = try source() { try draft.append(part) }
        try draft.finish()
        do throws(KeychainError) {
            try directory.whilePublishing { () throws(KeychainError) in
                try publish(draft, as: record, replaces: replaces)
            }
        } catch {
            // The name that the file may have got already is that of no item.
            sweepStoredFiles()
            throw error
        }
        // The former content of the same item.
        sweepStoredFiles()
    }

    /// Gives a file its name, and stores its item: of a crash between the two, only a file is left
    /// that ``sweepStoredFiles()`` removes.
    private func publish(
        _ draft: StoredFileDraft, as record: ItemRecord, replaces: Bool
    ) throws(KeychainError) {
        let search = ItemSearch(
            .genericPassword, groups: .only([record.accessGroup]),
            attributes: record.attributes.filter { $0.key == .service || $0.key == .account })
        try run { () throws(StoreError) in
            try store.transaction { (items) throws(StoreError) in
                guard let existing = try items.records(of: search).first else {
                    try asRefusal { () throws(KeychainError) in try draft.publish(for: record.identifier) }
                    guard try items.addUnlessPresent(record) else { throw .duplicate }
                    return
                }
                guard replaces else { throw .duplicate }
                try asRefusal { () throws(KeychainError) in
                    try Self.requireStoredFile(existing)
                    try draft.publish(for: existing.identifier)
                }
                let update = ItemUpdate(data: draft.reference.data, protection: record.protection)
                try items.update(search) { (old) throws(KeychainError) in
                    try ItemRules.applying(
                        update, to: old, group: nil, now: clock(), allowsAlwaysOpen: allowsAlwaysOpen)
                }
            }
        }
    }

    public func readStoredFile(
        _ query: ItemQuery, at offset: UInt64, count: Int, version: [UInt8]?, from caller: CallerIdentity
    ) throws(KeychainError) -> StoredFilePart {
        guard (0...StoredFilePart.maxLength).contains(count) else {
            throw .parameter("a part of a stored file has at most \(StoredFilePart.maxLength) bytes")
        }
        let (name, reference) = try find(query, from: caller)
        guard version == nil || version == reference.file else {
            throw KeychainError(.notAvailable, "the file was stored again meanwhile", hint: "read it from its start")
        }
        guard let files = try existingFiles(),
            let descriptor = try asKeychainErrors({ () throws(SystemError) in
                try files.open(name)
            })
        else {
            throw KeychainError(
                .decode, "the file of the item is missing in \(home?.filesDirectory ?? "the keychain")",
                hint: "restore it from a backup with files, or delete the item")
        }
        let path = files.path(of: name)
        do throws(FileProtectionError) {
            let container = try ProtectedContainer(
                opening: descriptor, path: path, isWritable: false, cacheCount: 1,
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

    private func find(
        _ query: ItemQuery, from caller: CallerIdentity
    ) throws(KeychainError) -> (StoredFileName, StoredFileReference) {
        guard query.itemClass ?? .genericPassword == .genericPassword else { throw Self.noFile }
        let found = try copyMatching(query, returning: [.data, .persistentReference], from: caller)
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
                "the item of a file is a generic password without data, which is not synchronized and has no access "
                    + "control")
        }
        var item = item
        item.secrets.data = reference.data
        item.attributes[.itemDescription] = .string(ItemAttribute.storedFileDescription)
        let record = try record(of: item, for: try Authorizer.authorize(caller))
        try run { () throws(StoreError) in
            _ = try store.refresh()
            guard store.isOpen(record.protection) else { throw .keybag(.closed(record.protection)) }
        }
        return record
    }

    private static func requireStoredFile(_ item: ItemRecord) throws(KeychainError) {
        guard item[.itemDescription] == .string(ItemAttribute.storedFileDescription) else {
            throw KeychainError(
                .duplicateItem, "an item of this name exists, and is not a file", hint: "choose another name")
        }
    }

    private static let noFile = KeychainError(.param, "the item is not a file that the keychain stores")

    private func asRefusal(_ body: () throws(KeychainError) -> Void) throws(StoreError) {
        do throws(KeychainError) { try body() } catch { throw .refused(error) }
    }

    // MARK: The directory

    private func storedFiles() throws(KeychainError) -> StoredFileDirectory {
        guard let home else {
            throw KeychainError(.notAvailable, "a keychain in memory stores no files")
        }
        return try asKeychainErrors { () throws(SystemError) in try StoredFileDirectory(creatingIn: home) }
    }

    func existingFiles() throws(KeychainError) -> StoredFileDirectory? {
        guard let home else { return nil }
        return try asKeychainErrors { () throws(SystemError) in try StoredFileDirectory(existingIn: home) }
    }

    /// Removes the files whose items are gone, and former contents of items. What cannot be removed
    /// now is removed the next time.
    func sweepStoredFiles() {
        guard let files = (try? existingFiles()) ?? nil else { return }
        try? files.whileNothingIsPublished { () throws(SystemError) in
            for (item, names) in Dictionary(grouping: try files.names(), by: \.item) {
                for name in names where isObsolete(name, among: names.count, of: item) { try files.remove(name) }
            }
        }
    }

    private func isObsolete(_ name: StoredFileName, among count: Int, of item: ItemIdentifier) -> Bool {
        do throws(StoreError) {
            guard try store.hasRow(item) else { return true }
            guard count > 1 else { return false }
            for grade in [AccessGroup.Grade.claimed, .attested] {
                let search = ItemSearch(.genericPassword, groups: .all(grade), identifier: item)
                let found = try store.search(search, limit: 1, withSecrets: true, withAttributes: false).records.first
                if let reference = StoredFileReference(found?.secrets?.data) { return reference.file != name.file }
            }
            return false
        } catch {
            // Without its item nothing says which content is the present one.
            return false
        }
    }
}

private func asKeychainErrors<Value: ~Copyable>(
    _ body: () throws(SystemError) -> Value
) throws(KeychainError) -> Value {
    do throws(SystemError) { return try body() } catch { throw KeychainError(error) }
}

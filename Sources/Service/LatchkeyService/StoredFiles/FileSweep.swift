// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainStore
internal import LinuxSystem

/// Removes files with their items. A file that cannot be removed now is removed when the keychain is opened the next
/// time.
struct FileSweep: Sendable {
    let keychain: OpenKeychain

    /// Removes the leftovers of killed processes: files of this keychain without an item, and contents that their items
    /// do not name.
    func removeLeftovers() {
        removeFiles { name in
            // A file of another keychain may belong to a database that was here before, and that is
            // restored later.
            hasRow(name.item) == false ? isOfThisKeychain(name) : isFormerContent(name)
        }
    }

    /// Runs `body`, and removes the files of the items that it has deleted.
    func removingFiles<Value>(_ body: () throws(KeychainError) -> Value) throws(KeychainError) -> Value {
        let before = filesOfItems()
        let value = try body()
        if !before.isEmpty { removeFiles { before.contains($0) && hasNoUse($0) } }
        return value
    }

    /// The files that have an item.
    func filesOfItems() -> Set<StoredFileName> {
        guard let files = (try? keychain.existingFiles()) ?? nil, let names = try? files.names() else { return [] }
        return Set(names.filter { hasRow($0.item) == true })
    }

    /// Whether a file was of an item of this database, and is of none any more.
    func hasNoUse(_ name: StoredFileName) -> Bool { hasRow(name.item) == false || isFormerContent(name) }

    /// Whether the item of a file can be opened, and names another file or none.
    func isFormerContent(_ name: StoredFileName) -> Bool {
        for grade in [AccessGroup.Grade.claimed, .attested] {
            let search = ItemSearch(
                .genericPassword, groups: .all(grade), synchronizable: .any, identifier: name.item)
            let found = try? keychain.store.search(search, limit: 1, withSecrets: true, withAttributes: false)
            guard let record = found?.records.first else { continue }
            guard record.needsAuthentication == nil, let data = record.secrets?.data else { return false }
            return StoredFileReference(data)?.file != name.file
        }
        return false
    }

    /// Removes the files that satisfy the condition, unless a process publishes files now.
    func removeFiles(_ condition: (StoredFileName) -> Bool) {
        guard let files = (try? keychain.existingFiles()) ?? nil else { return }
        try? files.whileNothingIsPublished { () throws(SystemError) in
            let names = try files.names()
            // Without its database, the files in use are not known.
            guard !names.isEmpty, (try? keychain.store.requireCurrentFile()) != nil else { return }
            for name in names where condition(name) { try files.remove(name) }
        }
        accountFiles()
    }

    /// Charges the stored files to the user, as they are now.
    func accountFiles() {
        guard let account = keychain.account, let home = keychain.home,
            let files = (try? keychain.existingFiles()) ?? nil,
            let size = try? files.size()
        else {
            return
        }
        account.set(bytes: size, at: home.filesDirectory)
    }

    /// nil if it cannot be read.
    private func hasRow(_ item: ItemIdentifier) -> Bool? {
        do throws(StoreError) { return try keychain.store.hasRow(item) } catch { return nil }
    }

    private func isOfThisKeychain(_ name: StoredFileName) -> Bool {
        guard let files = (try? keychain.existingFiles()) ?? nil, let owner = files.keychain(of: name) else {
            return false
        }
        return owner == keychain.store.keychainIdentifier
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import Keybag
internal import KeychainModel
internal import KeychainStore
internal import SecretMemory

/// The class keys of protected files. Each is an item that no program can reach, in the class of
/// items that is open when its files are; so it is sealed, locked, resealed and backed up as they
/// are.
///
/// A class has one key for each generation of the item class's key: after a passcode was set, new
/// files have a key that was never open without it.
struct FileClassKeys {
    private let store: KeychainStore
    private let now: Double

    init(_ store: KeychainStore, now: Double) { (self.store, self.now) = (store, now) }

    /// The class key that wraps the key of a file; its public key if the class is B and closed.
    enum Wrapping {
        case secret(FileClassKey)
        case publicKey(FileClassPublicKey)

        func wrap(_ key: GeneratedFileKey) -> FileKeyRecord? {
            switch self {
            case .secret(let classKey): classKey.wrap(key.secret, key.binding)
            case .publicKey(let publicKey): publicKey.wrap(key.secret, key.binding)
            }
        }
    }

    /// Returns the newest key of a class. If the class is open, a missing key is created, together with those of the
    /// other open classes.
    func newest(_ protection: FileProtectionClass) throws(StoreError) -> (Wrapping, generation: UInt32) {
        let name = try newestName(protection)
        if let found = try find(name) { return (.secret(found), name.generation) }
        if let found = try findPublic(name) { return (.publicKey(found), name.generation) }
        try createMissing()
        guard let found = try find(name) else { throw .keybag(.closed(protection.itemProtection)) }
        return (.secret(found), name.generation)
    }

    /// Returns the class key of a record; nil if the keychain does not have it.
    func key(of binding: FileKeyRecord.Binding) throws(StoreError) -> FileClassKey? {
        let name = FileClassKeyName(binding)
        guard let secret = try search(name.account)?.secrets?.data else { return nil }
        return FileClassKey(binding.protection, secret)
    }

    /// Creates the newest keys of all open classes, if any class has a key already. Class B can then be used while the
    /// keychain is locked. Its public key is compared with the private one, because the device key alone protects it.
    func renew() throws(StoreError) {
        guard try search(newestName(.none).account) != nil else { return }
        try createMissing()
        let name = try newestName(.completeUnlessOpen)
        guard let expected = try find(name)?.publicKey, try findPublic(name) != expected else { return }
        _ = try store.remove(Self.search(for: name.publicAccount), now: now)
        _ = try store.add(publicRecord(name, expected))
    }

    // MARK: Creating

    private func createMissing() throws(StoreError) {
        for protection in FileProtectionClass.allCases where store.isOpen(protection.itemProtection) {
            let name = try newestName(protection)
            guard try search(name.account) == nil else { continue }
            let key = FileClassKey.random(protection)
            var records = [record(name.account, protection.itemProtection, ItemSecrets(data: key.stored))]
            if let publicKey = key.publicKey { records.append(publicRecord(name, publicKey)) }
            do throws(StoreError) {
                _ = try store.add(records)
            } catch {
                // Another thread or process has created it.
                guard case .duplicate = error else { throw error }
            }
        }
    }

    private func publicRecord(_ name: FileClassKeyName, _ key: FileClassPublicKey) -> ItemRecord {
        record(
            name.publicAccount, .alwaysThisDeviceOnly, ItemSecrets(data: SharedSecret(copying: key.bytes)))
    }

    private func record(_ account: String, _ protection: ProtectionClass, _ secrets: ItemSecrets) -> ItemRecord {
        var record = ItemRecord(
            identifier: .random(), itemClass: .genericPassword, protection: protection, accessGroup: .files,
            created: now, modified: now,
            attributes: [.service: .string(FileClassKeyName.service), .account: .string(account)],
            addedBy: "", secrets: secrets)
        record.completeDefaults()
        return record
    }

    // MARK: Finding

    private func newestName(_ protection: FileProtectionClass) throws(StoreError) -> FileClassKeyName {
        let keybag = try store.refresh()
        return FileClassKeyName(
            keychain: keybag.keychain, protection, generation: try store.newestGeneration(of: protection.itemProtection)
        )
    }

    /// Returns a class key; nil if there is none, or if it is locked and of class B.
    private func find(_ name: FileClassKeyName) throws(StoreError) -> FileClassKey? {
        do throws(StoreError) {
            guard let secret = try search(name.account)?.secrets?.data else { return nil }
            return FileClassKey(name.protection, secret)
        } catch {
            guard case .keybag(.closed) = error, name.protection == .completeUnlessOpen else { throw error }
            return nil
        }
    }

    private func findPublic(_ name: FileClassKeyName) throws(StoreError) -> FileClassPublicKey? {
        guard name.protection == .completeUnlessOpen,
            let bytes = try search(name.publicAccount)?.secrets?.data?.withUnsafeBytes(Array.init)
        else { return nil }
        return FileClassPublicKey(bytes)
    }

    private func search(_ account: String) throws(StoreError) -> ItemRecord? {
        let result = try store.search(Self.search(for: account), limit: 1, withSecrets: true, withAttributes: false)
        guard result.damaged.isEmpty else { throw .keybag(.damaged("a class key of files does not open")) }
        return result.records.first
    }

    private static func search(for account: String) -> ItemSearch {
        ItemSearch(
            .genericPassword, groups: .only([.files]),
            attributes: [.service: .string(FileClassKeyName.service), .account: .string(account)])
    }
}

/// The name of a class key among the items.
struct FileClassKeyName {
    let keychain: [UInt8]
    let protection: FileProtectionClass
    let generation: UInt32

    static let service = "file class key"

    init(keychain: [UInt8], _ protection: FileProtectionClass, generation: UInt32) {
        (self.keychain, self.protection, self.generation) = (keychain, protection, generation)
    }

    init(_ binding: FileKeyRecord.Binding) {
        self.init(keychain: binding.keychain, binding.protection, generation: binding.generation)
    }

    /// The account of its item: `UUID/class/generation`, in hexadecimal and decimal digits.
    var account: String {
        let digits = Array("0123456789abcdef".utf8)
        let name = keychain.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return "\(String(decoding: name, as: UTF8.self))/\(protection.rawValue)/\(generation)"
    }

    /// Whether an item is a class key of a keychain. Only that keychain itself creates such an item.
    static func isOwn(_ record: ItemRecord, _ keychain: [UInt8]) -> Bool {
        guard record.accessGroup == .files, let account = record[.account]?.text else { return false }
        let own = FileClassKeyName(keychain: keychain, .none, generation: 0).account.prefix { $0 != "/" }
        return account.prefix { $0 != "/" } == own
    }

    /// The account of the item of the public key of class B.
    var publicAccount: String { account + "/public" }
}

/// A fresh key of a file.
struct GeneratedFileKey {
    let binding: FileKeyRecord.Binding
    let secret: SharedSecret
}

// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// A file that is being stored, and has no name yet.
final class StoredFileDraft: Sendable {
    let reference: StoredFileReference
    private let directory: StoredFileDirectory
    private let descriptor: OwnedDescriptor
    private let container: ProtectedContainer
    /// The bytes that the file uses of the user's account; nil for no limit.
    private let charge: StorageAccount.Charge?

    private let published = SystemMutex<Set<StoredFileName>>([])

    /// The names that the file has got, or may have.
    var names: Set<StoredFileName> { published.withLock { $0 } }

    /// - Parameter account: the account of the user's disk space; nil for no limit.
    init(
        in directory: StoredFileDirectory, _ reference: StoredFileReference, _ record: ItemRecord, keychain: [UInt8],
        account: StorageAccount?
    ) throws(KeychainError) {
        let group = record.accessGroup
        guard let key = reference.newKey(record.protection.fileProtection, keychain: keychain, group) else {
            throw .parameter("the access group of a file has at most \(FileKeyRecord.maxGroupLength) bytes")
        }
        charge = account?.charge()
        guard charge?.add(Self.fileCost) != false else { throw Self.quotaReached }
        let draft = try Self.mapErrors { () throws(FileProtectionError) in
            try mapSystemErrors { () throws(SystemError) in try directory.draft() }
        }
        container = try Self.mapErrors { () throws(FileProtectionError) in
            try ProtectedContainer(
                creating: try draft.duplicate(), path: "the file", key.record, key.cipher, cacheCount: 4)
        }
        descriptor = draft
        (self.reference, self.directory) = (reference, directory)
    }

    /// - Throws: errSecDiskFull beyond the quota.
    func append(_ part: SharedSecret) throws(KeychainError) {
        guard charge?.add(part.count + part.count / Self.overheadDivisor) != false else { throw Self.quotaReached }
        try Self.mapErrors { () throws(FileProtectionError) in
            let length = try container.length
            try part.withUnsafeBytes { (bytes) throws(FileProtectionError) in
                try container.write(bytes, at: length)
            }
        }
    }

    /// Makes the content durable.
    func finish() throws(KeychainError) {
        try Self.mapErrors { () throws(FileProtectionError) in
            try container.commit()
            container.close()
        }
    }

    /// Gives the file the name that it has as the content of an item.
    func publish(for item: ItemIdentifier) throws(KeychainError) {
        let name = StoredFileName(item: item, file: reference.file)
        published.withLock { _ = $0.insert(name) }
        do throws(SystemError) { try directory.publish(descriptor, as: name) } catch { throw KeychainError(error) }
    }

    /// The cost of a file beside its content: an inode, its header, and the rest of the last block.
    static let fileCost = 12_288
    /// The tags of a container's parts are less than this part of its content.
    private static let overheadDivisor = 64

    private static let quotaReached = KeychainError(
        .diskFull, "the keychains, files and backups of this user would have more than their maximum size together",
        hint: "delete some, or ask the administrator to raise the limit in /etc/latchkey/daemon.conf")

    private static func mapErrors<Value: ~Copyable>(
        _ body: () throws(FileProtectionError) -> Value
    ) throws(KeychainError) -> Value {
        try withErrors(as: { KeychainError($0, path: "the file") }, body)
    }
}

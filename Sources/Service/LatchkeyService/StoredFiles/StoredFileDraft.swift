// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import Glibc
internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// A file that is being stored, and has no name yet.
final class StoredFileDraft: Sendable {
    let reference: StoredFileReference
    private let directory: StoredFileDirectory
    private let descriptor: OwnedDescriptor
    private let container: ProtectedContainer
    /// Of all files of the user together, in bytes.
    private let maxSize: Int
    /// The bytes that were left of it at the start.
    private let available: UInt64

    private let published = SystemMutex<Set<StoredFileName>>([])

    /// The names that the file has got, or may have.
    var names: Set<StoredFileName> { published.withLock { $0 } }

    /// - Parameter maxSize: of all files together, in bytes.
    init(
        in directory: StoredFileDirectory, _ reference: StoredFileReference, _ record: ItemRecord, keychain: [UInt8],
        maxSize: Int
    ) throws(KeychainError) {
        let group = record.accessGroup
        guard let key = reference.newKey(record.protection.fileProtection, keychain: keychain, group) else {
            throw .parameter("the access group of a file has at most \(FileKeyRecord.maxGroupLength) bytes")
        }
        let used = try Self.mapErrors { () throws(FileProtectionError) in
            try mapSystemErrors { () throws(SystemError) in
                maxSize == .max ? 0 : try directory.size()
            }
        }
        available = UInt64(max(0, maxSize - used))
        self.maxSize = maxSize
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
        try Self.mapErrors { () throws(FileProtectionError) in
            let length = try container.length
            guard UInt64(part.count) <= available, length <= available - UInt64(part.count) else {
                throw .key(Self.quotaReached)
            }
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
        do throws(SystemError) {
            // Other files may have got their names since the start.
            if maxSize != .max {
                let size = try FileStatus.of(descriptor, path: "the file").size
                guard try Int64(directory.size()) <= Int64(maxSize) - size else { throw Self.noSpace }
            }
            try directory.publish(descriptor, as: name)
        } catch {
            throw error == Self.noSpace ? Self.quotaReached : KeychainError(error)
        }
    }

    private static let noSpace = SystemError(
        "store a file beyond the maximum length of this user's files", code: ENOSPC)
    private static let quotaReached = KeychainError(
        .diskFull, "the files of this user would have more than their maximum length together",
        hint: "ask the administrator to raise the limit in /etc/latchkey/daemon.conf")

    private static func mapErrors<Value: ~Copyable>(
        _ body: () throws(FileProtectionError) -> Value
    ) throws(KeychainError) -> Value {
        do throws(FileProtectionError) { return try body() } catch { throw KeychainError(error, path: "the file") }
    }
}

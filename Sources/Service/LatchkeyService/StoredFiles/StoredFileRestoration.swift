// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import KeychainStore
internal import LinuxSystem

/// Writes the files of a backup into the directory of a keychain. A file that exists already is kept: files of the same
/// name have the same content.
final class StoredFileRestoration {
    private let home: KeychainHome
    private let account: StorageAccount?
    /// The bytes that the files use of the user's account; nil for no limit, and before the first file.
    private var spent: StorageAccount.Charge?
    /// nil before the first file.
    private var directory: StoredFileDirectory?
    /// Without a file if it exists already.
    private var current: (name: StoredFileName, file: RestoredFile?)?
    /// The files of the backup.
    private(set) var names: Set<StoredFileName> = []

    init(in home: KeychainHome, account: StorageAccount?) { (self.home, self.account) = (home, account) }

    var sink: BackupFileSink {
        BackupFileSink(
            take: { [self] (name, bytes) throws(StoreError) in
                try withErrors(as: StoreError.system) { () throws(SystemError) in try take(name, bytes) }
            },
            finish: { [self] () throws(StoreError) in
                try withErrors(as: StoreError.system) { () throws(SystemError) in
                    try publish()
                    try directory?.synchronize()
                }
            })
    }

    /// Runs `body`, while no other process removes files without items.
    func whilePublishing<Value>(_ body: () throws(KeychainError) -> Value) throws(KeychainError) -> Value {
        let existing: StoredFileDirectory
        do throws(SystemError) {
            existing = try StoredFileDirectory(creatingIn: home)
        } catch {
            throw KeychainError(error)
        }
        directory = existing
        return try existing.whilePublishing(body)
    }

    private func take(_ bytes: [UInt8], _ content: UnsafeRawBufferPointer) throws(SystemError) {
        guard let name = StoredFileName(bytes: bytes), let directory else { return }
        if current?.name != name {
            try publish()
            names.insert(name)
            if try directory.open(name) != nil {
                current = (name, nil)
            } else {
                current = (name, RestoredFile(try directory.draft(), path: directory.path(of: name)))
                try charge(StoredFileDraft.fileCost)
            }
        }
        guard let file = current?.file else { return }
        try charge(content.count)
        try file.append(content)
    }

    private func charge(_ count: Int) throws(SystemError) {
        // This runs within a change of the database. The change was granted all bytes that are left, and has released
        // those that the items do not need.
        if spent == nil { spent = account?.charge() }
        guard spent?.add(count, waits: false) != false else {
            throw SystemError(
                "restore a file beyond the space that this user may have on the disk", path: home.filesDirectory,
                code: ENOSPC)
        }
    }

    private func publish() throws(SystemError) {
        guard let (name, file) = current else { return }
        current = nil
        try file?.publish(as: name, in: directory)
    }
}

/// A file that is being restored, and has no name yet.
private final class RestoredFile {
    private let descriptor: OwnedDescriptor
    private let path: String

    init(_ descriptor: consuming OwnedDescriptor, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(SystemError) { try descriptor.write(bytes, path: path) }

    func publish(as name: StoredFileName, in directory: StoredFileDirectory?) throws(SystemError) {
        try directory?.publish(descriptor, as: name)
    }
}

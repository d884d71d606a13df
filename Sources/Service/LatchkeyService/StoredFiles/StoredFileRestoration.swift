// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import KeychainStore
internal import LinuxSystem

/// Writes the files of a backup into the directory of a keychain. A file that exists already is kept:
/// what has the same name has the same content.
final class StoredFileRestoration {
    private let home: KeychainHome
    private let maxSize: Int
    /// nil before the first file.
    private var directory: StoredFileDirectory?
    /// Without a file if it exists already.
    private var current: (name: StoredFileName, file: RestoredFile?)?
    /// The length of all files of the directory, in bytes.
    private var size = 0
    /// The files of the backup.
    private(set) var names: Set<StoredFileName> = []

    init(in home: KeychainHome, maxSize: Int) { (self.home, self.maxSize) = (home, maxSize) }

    var sink: BackupFileSink {
        BackupFileSink(
            take: { [self] (name, bytes) throws(StoreError) in
                try mapErrors { () throws(SystemError) in try take(name, bytes) }
            },
            finish: { [self] () throws(StoreError) in
                try mapErrors { () throws(SystemError) in
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
            if size == 0, maxSize != .max { size = try directory.size() }
            names.insert(name)
            if try directory.open(name) != nil {
                current = (name, nil)
            } else {
                current = (name, RestoredFile(try directory.draft(), path: directory.path(of: name)))
                try charge(Self.fileCost)
            }
        }
        guard let file = current?.file else { return }
        try charge(content.count)
        try file.append(content)
    }

    private func charge(_ count: Int) throws(SystemError) {
        guard count <= maxSize - min(size, maxSize) else {
            throw SystemError(
                "restore a file beyond the maximum length of this user's files", path: home.filesDirectory,
                code: ENOSPC)
        }
        size += count
    }

    /// What a file costs beside its content: an inode and a block.
    private static let fileCost = 4096

    private func publish() throws(SystemError) {
        guard let (name, file) = current else { return }
        current = nil
        try file?.publish(as: name, in: directory)
    }

    private func mapErrors(_ body: () throws(SystemError) -> Void) throws(StoreError) {
        do throws(SystemError) { try body() } catch { throw .system(error) }
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

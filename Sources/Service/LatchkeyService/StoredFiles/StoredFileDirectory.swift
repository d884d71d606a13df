// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import Glibc
internal import KeychainModel
internal import LinuxSystem

/// The directory of the files that a keychain stores. Files in it are never changed: another content
/// has another name.
struct StoredFileDirectory {
    private let directory: OpenDirectory
    private let path: String

    /// Opens the directory, and creates it if it does not exist.
    init(creatingIn home: KeychainHome) throws(SystemError) {
        let isNew = try FileStatus.ofLink(home.filesDirectory) == nil
        path = try PrivateDirectory(creating: home.filesDirectory).path
        if isNew { try PrivateDirectory(existing: home.dataDirectory).synchronize() }
        directory = try OpenDirectory(path)
    }

    /// Opens the directory; nil if it does not exist.
    init?(existingIn home: KeychainHome) throws(SystemError) {
        guard try FileStatus.ofLink(home.filesDirectory) != nil else { return nil }
        path = try PrivateDirectory(existing: home.filesDirectory).path
        directory = try OpenDirectory(path)
    }

    func path(of name: StoredFileName) -> String { "\(path)/\(name.text)" }

    // MARK: Files

    /// Returns a file without a name. It ends with its descriptor.
    func draft() throws(SystemError) -> OwnedDescriptor { try directory.unnamedFile() }

    /// Gives a draft its name; both are durable when this returns. A file that has the name already is
    /// kept.
    func publish(_ draft: borrowing OwnedDescriptor, as name: StoredFileName) throws(SystemError) {
        do throws(SystemError) {
            try directory.publish(draft, as: FilePath(name.text), replaces: false)
        } catch {
            guard error.code == EEXIST else { throw error }
        }
        try directory.synchronize()
    }

    /// Returns the keychain that has made a file, 16 bytes; nil if it is not known. Nothing authenticates it.
    func keychain(of name: StoredFileName) -> [UInt8]? {
        guard let file = (try? open(name)) ?? nil else { return nil }
        return try? ProtectedContainer.keyRecord(of: file, path: path(of: name)).binding.keychain
    }

    /// Whether both headers of a file are as they were stored; true for one that is gone.
    ///
    /// - Throws: the error of opening or reading it.
    func hasEqualHeaders(_ name: StoredFileName) throws(SystemError) -> Bool {
        guard let file = try open(name) else { return true }
        do throws(FileProtectionError) {
            return try ProtectedContainer.hasEqualHeaders(file, path: path(of: name))
        } catch {
            if case .system(let cause) = error { throw cause }
            return false
        }
    }

    /// Opens a file for reading; nil if it does not exist.
    func open(_ name: StoredFileName) throws(SystemError) -> OwnedDescriptor? {
        do throws(SystemError) {
            return try directory.open(FilePath(name.text), flags: O_RDONLY)
        } catch {
            guard error.code == ENOENT else { throw error }
            return nil
        }
    }

    /// Removes a file, unless it is gone already.
    func remove(_ name: StoredFileName) throws(SystemError) {
        do throws(SystemError) {
            try directory.remove(FilePath(name.text))
        } catch {
            guard error.code == ENOENT else { throw error }
        }
    }

    /// Returns the files. Leftovers of processes that were killed between two steps are removed.
    func names() throws(SystemError) -> [StoredFileName] {
        var names: [StoredFileName] = []
        for entry in try directory.entries() where entry.kind == .file {
            if let name = entry.name.text.flatMap({ StoredFileName($0) }) {
                names.append(name)
            } else {
                _ = try directory.removeDraft(entry.name)
            }
        }
        return names
    }

    /// The length of all files together, in bytes.
    func size() throws(SystemError) -> Int {
        var total = 0
        for name in try names() {
            guard let file = try open(name) else { continue }
            total += Int(max(0, try FileStatus.of(file, path: path(of: name)).size))
        }
        return total
    }

    func synchronize() throws(SystemError) { try directory.synchronize() }

    // MARK: Publishing and sweeping

    /// Runs `body` to publish files and then store their items. No other process sweeps meanwhile.
    func whilePublishing<Value>(_ body: () throws(KeychainError) -> Value) throws(KeychainError) -> Value {
        let lock: DirectoryLock
        do throws(SystemError) {
            lock = try DirectoryLock(path, .shared)
        } catch {
            throw KeychainError(error)
        }
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }

    /// Runs `body`, unless a process is publishing now: files of items that are not stored yet would look as if their
    /// items were deleted.
    func whileNothingIsPublished(_ body: () throws(SystemError) -> Void) throws(SystemError) {
        guard let lock = try DirectoryLock(ifFree: path, .exclusive) else { return }
        defer { withExtendedLifetime(lock) {} }
        try body()
    }
}

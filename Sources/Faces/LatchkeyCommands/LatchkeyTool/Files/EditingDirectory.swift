// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// A private directory in memory (tmpfs) for a text that is edited.
///
/// It is locked as long as this process or the editor lives. A directory without a lock is left from a killed process,
/// and ``sweep()`` removes it.
final class EditingDirectory {
    private var name: FilePath
    private let parent: OpenDirectory
    private let directory: OpenDirectory
    /// Locks the directory. The editor inherits it: it may outlive this process.
    let lock: OwnedDescriptor

    /// - Throws: errSecNotAvailable if there is no directory in memory.
    init() throws(KeychainError) {
        guard let memory = Self.parents.first(where: { Self.isInMemory($0) }) else {
            throw KeychainError(
                .notAvailable, "there is no directory in memory for the text",
                hint: "set XDG_RUNTIME_DIR to a directory of a tmpfs, or mount one at /dev/shm")
        }
        do throws(SystemError) {
            parent = try OpenDirectory(followingLinks: memory)
            let digits = RandomBytes.hexadecimal(count: 8)
            name = "\(Self.prefix)\(digits)"
            // A sweep looks only for the final name. The directory gets that name together with its lock.
            let first: FilePath = "\(Self.newPrefix)\(digits)"
            try parent.makeDirectory(first)
            directory = try parent.directory(first)
            lock = try parent.open(first, flags: O_RDONLY | O_DIRECTORY)
            guard flock(lock.rawValue, LOCK_EX | LOCK_NB) == 0 else { throw .last("lock", path: memory) }
            try parent.rename(first, to: name)
        } catch {
            throw KeychainError(error)
        }
    }

    var path: FilePath { parent.path(of: name) }

    /// Opens a file in the directory.
    func open(_ file: FilePath, flags: Int32) throws(SystemError) -> OwnedDescriptor {
        try directory.open(file, flags: flags)
    }

    /// Returns the names of the entries in the directory.
    func names() throws(SystemError) -> [FilePath] { try directory.entries().map(\.name) }

    /// Gives the directory a name that no ``sweep()`` removes.
    func keep() {
        let kept: FilePath = "\(Self.keptPrefix)\(RandomBytes.hexadecimal(count: 8))"
        if (try? parent.rename(name, to: kept)) != nil { name = kept }
    }

    /// Removes the directory and everything in it.
    func remove() throws(SystemError) {
        try Self.empty(directory, depth: 0)
        try parent.removeDirectory(name)
    }

    // MARK: Sweeping

    /// Removes the texts of processes that were killed with their editors.
    ///
    /// - Returns: how many texts were removed.
    static func sweep() throws(SystemError) -> Int {
        var count = 0
        var swept: Set<FileStatus.Identity> = []
        for path in parents where isInMemory(path) {
            let parent = try OpenDirectory(followingLinks: path)
            guard try swept.insert(parent.identity).inserted else { continue }
            for entry in try parent.entries() where entry.kind == .directory && entry.name.hasPrefix(prefix) {
                if try sweep(entry.name, in: parent) { count += 1 }
            }
        }
        return count
    }

    private static func sweep(_ name: FilePath, in parent: OpenDirectory) throws(SystemError) -> Bool {
        do throws(SystemError) {
            guard try FileStatus.ofLink(parent.path(of: name))?.owner == geteuid() else { return false }
            let descriptor = try parent.open(name, flags: O_RDONLY | O_DIRECTORY)
            guard flock(descriptor.rawValue, LOCK_EX | LOCK_NB) == 0 else { return false }
            try empty(try parent.directory(name), depth: 0)
            try parent.removeDirectory(name)
            return true
        } catch {
            // Another process may remove it at the same time.
            guard error.code == ENOENT else { throw error }
            return false
        }
    }

    /// Removes everything in a directory.
    private static func empty(_ directory: OpenDirectory, depth: Int) throws(SystemError) {
        guard depth < maxDepth else { throw SystemError("remove", path: directory.path, code: ELOOP) }
        for entry in try directory.entries() {
            do throws(SystemError) {
                guard entry.kind == .directory else {
                    try directory.remove(entry.name)
                    continue
                }
                try empty(try directory.directory(entry.name), depth: depth + 1)
                try directory.removeDirectory(entry.name)
            } catch {
                // The end of the editor may remove it as well.
                guard error.code == ENOENT else { throw error }
            }
        }
    }

    // MARK: Places

    private static var parents: [FilePath] {
        [SecureEnvironment.path(of: "XDG_RUNTIME_DIR"), "/run/user/\(geteuid())", "/dev/shm"].compactMap { $0 }
    }

    private static func isInMemory(_ path: FilePath) -> Bool {
        (try? FileSystem(holding: path))?.isInMemory == true && path.withCString { access($0, W_OK | X_OK) } == 0
    }

    private static let prefix = "latchkey-edit-"
    private static let newPrefix = "latchkey-new-"
    private static let keptPrefix = "latchkey-kept-"
    /// More than editors make.
    private static let maxDepth = 32
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem
internal import ProtectedFolder

/// The message of a mounted folder's process to the command that unmounts the folder: a file of one block in the state
/// directory, locked until the process has ended. Its lines:
///
/// ```
/// mounted, storing or stored
/// CHANGES THAT ARE LOST   (any number of lines)
/// ```
///
/// It is written in place, so that a full disk does not keep the process from telling that all is stored.
final class MountRecord: Sendable {
    private let file: OwnedDescriptor
    private let directory: OpenDirectory
    private let name: FilePath

    private enum State: String { case mounted, storing, stored }

    /// Creates the record of the folder that this process has mounted. An earlier process that still stores its
    /// changes can have had the same number; the command that waits for it has its record open.
    init(creatingFor mountPoint: FilePath) throws(SystemError) {
        name = try Self.name(mountPoint)
        _ = try PrivateDirectory(creating: try Self.stateDirectory())
        directory = try OpenDirectory(try PrivateDirectory(creating: try Self.path()).path)
        let lock = try DirectoryLock(try Self.path(), .exclusive)
        defer { withExtendedLifetime(lock) {} }
        try Self.sweep(directory)
        do throws(SystemError) { try directory.remove(name) } catch { if error.code != ENOENT { throw error } }
        file = try directory.open(name, flags: O_RDWR | O_CREAT | O_EXCL)
        do throws(SystemError) {
            guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 else { throw .last("lock", path: path) }
            try write(.mounted)
        } catch {
            try? directory.remove(name)
            throw error
        }
    }

    /// Opens the record of a folder; nil without one: something else has mounted it, or it could not be written.
    init?(of mountPoint: FilePath) throws(SystemError) {
        name = try Self.name(mountPoint)
        do throws(SystemError) {
            directory = try OpenDirectory(try PrivateDirectory(existing: try Self.path()).path)
            let lock = try DirectoryLock(try Self.path(), .shared)
            defer { withExtendedLifetime(lock) {} }
            file = try directory.open(name, flags: O_RDONLY)
        } catch {
            guard error.code == ENOENT else { throw error }
            return nil
        }
    }

    private var path: FilePath { directory.path(of: name) }

    // MARK: In the process of the folder

    /// The folder is not mounted any more; its changes are stored now.
    func begin() throws(SystemError) { try write(.storing) }

    /// Records that everything is stored, except the lost changes. The record stays locked until the process has ended.
    func end(lost: [String]) throws(SystemError) {
        try write(.stored, lost)
        remove()
        _ = Unmanaged.passRetained(self)
    }

    /// Removes the name, unless it is that of a later record.
    func remove() {
        guard let place = directory.path.text, let lock = try? DirectoryLock(place, .exclusive) else { return }
        defer { withExtendedLifetime(lock) {} }
        guard let named = try? FileStatus.ofLink(path)?.identity,
            let own = try? FileStatus.of(file, path: path.description).identity, named == own
        else { return }
        try? directory.remove(name)
    }

    private func write(_ state: State, _ lost: [String] = []) throws(SystemError) {
        var text = Array("\(state.rawValue)\n".utf8)
        for (index, name) in lost.enumerated() {
            guard text.count + name.utf8.count < Self.length - 64 else {
                text += Array("\(lost.count - index) others\n".utf8)
                break
            }
            text += Array("\(name)\n".utf8)
        }
        while text.count < Self.length { text.append(UInt8(ascii: "\n")) }
        try rewind()
        try text.withUnsafeBufferPointer { (bytes) throws(SystemError) in
            try file.write(UnsafeRawBufferPointer(bytes), path: path.description)
        }
    }

    // MARK: In the command

    /// Waits until the process of a folder that was unmounted has ended.
    ///
    /// - Returns: the changes that are lost.
    func lostChanges() throws(SystemError) -> [String] {
        let start = BootClock.system.now()
        while flock(file.rawValue, LOCK_SH | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw .last("lock", path: path) }
            let isStoring = try lines().first != State.mounted.rawValue
            guard isStoring || BootClock.system.now() &- start < Self.maxWait else {
                throw SystemError(
                    "end the process of the folder", code: EBUSY,
                    hint: "it is mounted in another mount namespace as well, such as that of a container")
            }
            usleep(10_000)
        }
        let lines = try lines()
        guard lines.first == State.stored.rawValue else {
            throw SystemError(
                "store the changes of the folder", code: EIO, hint: "its process has ended before it had stored them")
        }
        return Array(lines.dropFirst())
    }

    private func lines() throws(SystemError) -> [String] {
        try rewind()
        let text = String(decoding: try file.read(upTo: Self.length, path: path.description), as: UTF8.self)
        return text.split(separator: "\n").map(String.init)
    }

    private func rewind() throws(SystemError) {
        guard lseek(file.rawValue, 0, SEEK_SET) == 0 else { throw .last("use", path: path) }
    }

    /// In nanoseconds: until the process learns that the folder is not mounted any more.
    private static let maxWait: UInt64 = 30_000_000_000
    /// In bytes: the block of most file systems.
    private static let length = 4096

    // MARK: Places

    private static func stateDirectory() throws(SystemError) -> String {
        do throws(KeychainError) { return try KeychainClient.home().stateDirectory } catch {
            throw SystemError("find the state directory", code: ENOENT)
        }
    }

    /// Returns the path of a directory of its own, locked while a record is created, opened or removed.
    private static func path() throws(SystemError) -> String { "\(try stateDirectory())/mounts" }

    private static func name(_ mountPoint: FilePath) throws(SystemError) -> FilePath {
        "\(try MountedFolder.mountNumber(at: mountPoint))"
    }

    /// Removes the records of processes that were killed. The directory is locked.
    private static func sweep(_ directory: OpenDirectory) throws(SystemError) {
        for entry in try directory.entries() where entry.kind == .file {
            let file = try directory.open(entry.name, flags: O_RDONLY)
            if flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 { try directory.remove(entry.name) }
        }
    }
}

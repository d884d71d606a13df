// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem
internal import ProtectedFolder

/// What the process of a mounted folder tells the command that unmounts it: a file in the state directory, which
/// is locked until the process has ended. It is empty while the folder is mounted; then it has these lines:
///
/// ```
/// storing
/// CHANGES THAT ARE LOST   (any number of lines)
/// stored
/// ```
final class MountRecord: Sendable {
    private let file: OwnedDescriptor
    private let directory: OpenDirectory
    /// The name that it has now.
    private let name: SystemMutex<FilePath>

    /// Creates a record for the folder that this process is about to mount.
    init() throws(SystemError) {
        directory = try OpenDirectory(try PrivateDirectory(creating: try Self.path()).path)
        try Self.sweep(directory)
        let draft: FilePath = "mount.\(RandomBytes.hexadecimal(count: 8))"
        file = try directory.open(draft, flags: O_RDWR | O_CREAT | O_EXCL)
        name = SystemMutex(draft)
        guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 else {
            throw .last("lock", path: directory.path(of: draft))
        }
    }

    /// Opens the record of a folder; nil without one: something else has mounted it.
    init?(of mountPoint: FilePath) throws(SystemError) {
        let final = try Self.name(mountPoint)
        do throws(SystemError) {
            directory = try OpenDirectory(try PrivateDirectory(existing: try Self.path()).path)
            name = SystemMutex(final)
            file = try directory.open(final, flags: O_RDONLY)
        } catch {
            guard error.code == ENOENT else { throw error }
            return nil
        }
    }

    private var path: FilePath { directory.path(of: name.withLock { $0 }) }

    // MARK: In the process of the folder

    /// The folder is mounted. An earlier process that still stores its changes can have had the same number; the
    /// command that waits for it has its record open.
    func mounted(at mountPoint: FilePath) throws(SystemError) {
        let final = try Self.name(mountPoint)
        try directory.rename(name.withLock { $0 }, to: final)
        name.withLock { $0 = final }
    }

    /// The folder is not mounted any more; its changes are stored now.
    func begin() throws(SystemError) { try write(["storing"]) }

    /// Everything is stored, except what is lost. The record stays locked until the process has ended.
    func end(lost: [String]) throws(SystemError) {
        try write(lost + ["stored"])
        remove()
        _ = Unmanaged.passRetained(self)
    }

    /// Removes the name, unless it is that of a later record.
    func remove() {
        let path = path
        guard let named = try? FileStatus.ofLink(path)?.identity,
            let own = try? FileStatus.of(file, path: path.description).identity, named == own
        else { return }
        try? directory.remove(name.withLock { $0 })
    }

    private func write(_ lines: [String]) throws(SystemError) {
        let text = Array(lines.map { "\($0)\n" }.joined().utf8)
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
            let isStoring = try FileStatus.of(file, path: path.description).size > 0
            guard isStoring || BootClock.system.now() &- start < Self.maxWait else {
                throw SystemError(
                    "end the process of the folder", code: EBUSY,
                    hint: "it is mounted in another mount namespace as well, such as that of a container")
            }
            usleep(10_000)
        }
        let text = String(decoding: try file.read(upTo: Self.maxLength, path: path.description), as: UTF8.self)
        let lines = text.split(separator: "\n").map(String.init)
        guard lines.first == "storing", lines.last == "stored" else {
            throw SystemError(
                "store the changes of the folder", code: EIO, hint: "its process has ended before it had stored them")
        }
        return Array(lines.dropFirst().dropLast())
    }

    /// In nanoseconds: until the process learns that the folder is not mounted any more.
    private static let maxWait: UInt64 = 30_000_000_000
    /// More than the names of as many changes as are reported.
    private static let maxLength = 1 << 20

    // MARK: Places

    private static func path() throws(SystemError) -> String {
        do throws(KeychainError) { return try KeychainClient.home().stateDirectory } catch {
            throw SystemError("find the state directory", code: ENOENT)
        }
    }

    private static func name(_ mountPoint: FilePath) throws(SystemError) -> FilePath {
        "\(prefix)\(try MountedFolder.mountNumber(at: mountPoint))"
    }

    /// Removes the records of processes that were killed.
    private static func sweep(_ directory: OpenDirectory) throws(SystemError) {
        for entry in try directory.entries() where entry.kind == .file && entry.name.hasPrefix(prefix) {
            do throws(SystemError) {
                let file = try directory.open(entry.name, flags: O_RDONLY)
                if flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 { try directory.remove(entry.name) }
            } catch {
                // Another process may remove it at the same time.
                guard error.code == ENOENT else { throw error }
            }
        }
    }

    private static let prefix = "mount-"
}

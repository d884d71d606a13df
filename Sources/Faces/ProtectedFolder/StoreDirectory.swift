// SPDX-License-Identifier: Apache-2.0

internal import CFileCalls
internal import Glibc
internal import LinuxSystem
internal import UserspaceFileSystem

/// A directory of the store. Everything is relative to its descriptor and to one name, and follows no
/// symbolic link.
final class StoreDirectory: Sendable {
    let descriptor: OwnedDescriptor

    init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }

    /// Returns the status of the directory itself.
    var status: stat { get throws(FileSystemError) { try Self.status(of: descriptor.rawValue) } }

    func status(of name: String) throws(FileSystemError) -> stat {
        var info = stat()
        guard fstatat(descriptor.rawValue, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else { throw .last }
        return info
    }

    /// Returns the status of a name; nil if it does not exist.
    func statusIfPresent(of name: String) throws(FileSystemError) -> stat? {
        do throws(FileSystemError) { return try status(of: name) } catch {
            guard error == .notFound else { throw error }
            return nil
        }
    }

    static func status(of descriptor: Int32) throws(FileSystemError) -> stat {
        var info = stat()
        guard fstatat(descriptor, "", &info, CFILECALLS_EMPTY_PATH) == 0 else { throw .last }
        return info
    }

    func open(_ name: String, _ flags: Int32, mode: UInt32 = 0) throws(FileSystemError) -> OwnedDescriptor {
        let opened = CFileCalls_open(descriptor.rawValue, name, flags | O_NONBLOCK, mode)
        guard opened >= 0 else { throw .last }
        return OwnedDescriptor(adopting: opened)
    }

    func openDirectory(_ name: String) throws(FileSystemError) -> StoreDirectory {
        StoreDirectory(try open(name, CFILECALLS_PATH_ONLY | O_DIRECTORY))
    }

    func makeDirectory(_ name: String, mode: UInt32) throws(FileSystemError) {
        guard mkdirat(descriptor.rawValue, name, mode) == 0 else { throw .last }
    }

    /// - Parameter mode: with the bits of the kind: a pipe or a socket.
    func makeChannel(_ name: String, mode: UInt32) throws(FileSystemError) {
        guard mknodat(descriptor.rawValue, name, mode, 0) == 0 else { throw .last }
    }

    func makeSymbolicLink(_ name: String, to target: String) throws(FileSystemError) {
        guard symlinkat(target, descriptor.rawValue, name) == 0 else { throw .last }
    }

    func target(of name: String) throws(FileSystemError) -> [UInt8] {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlinkat(descriptor.rawValue, name, &buffer, buffer.count)
        guard count >= 0 else { throw .last }
        return buffer.prefix(count).map { UInt8(bitPattern: $0) }
    }

    func remove(_ name: String, isDirectory: Bool) throws(FileSystemError) {
        guard unlinkat(descriptor.rawValue, name, isDirectory ? AT_REMOVEDIR : 0) == 0 else { throw .last }
    }

    func rename(
        _ name: String, to directory: StoreDirectory, _ newName: String, _ mode: RenameMode
    ) throws(FileSystemError) {
        let flags =
            switch mode {
            case .replacing: UInt32(0)
            case .notReplacing: CFILECALLS_NO_REPLACE
            case .exchanging: CFILECALLS_EXCHANGE
            }
        guard renameat2(descriptor.rawValue, name, directory.descriptor.rawValue, newName, flags) == 0 else {
            throw .last
        }
    }

    /// Writes the names of the directory to the storage device.
    func synchronize() throws(FileSystemError) {
        let opened = try open(".", O_RDONLY | O_DIRECTORY)
        guard fsync(opened.rawValue) == 0 else { throw .last }
    }

    /// Writes everything of the file system of the directory to the storage device.
    func synchronizeFileSystem() throws(FileSystemError) {
        let opened = try open(".", O_RDONLY | O_DIRECTORY)
        guard syncfs(opened.rawValue) == 0 else { throw .last }
    }

    /// Calls `body` with every stored name.
    func forEachName(
        _ body: (_ name: UnsafeRawBufferPointer, _ number: UInt64, _ mode: UInt32) -> Void
    ) throws(FileSystemError) {
        let opened = try open(".", O_RDONLY | O_DIRECTORY)
        guard let stream = fdopendir(opened.release()) else { throw .last }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            let mode = UInt32(entry.pointee.d_type) << 12  // DTTOIF
            let number = UInt64(entry.pointee.d_ino)
            withUnsafeBytes(of: &entry.pointee.d_name) { name in
                body(UnsafeRawBufferPointer(rebasing: name.prefix { $0 != 0 }), number, mode)
            }
        }
        guard errno == 0 else { throw .last }
    }
}

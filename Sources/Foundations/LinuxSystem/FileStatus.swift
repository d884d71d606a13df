// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
internal import Glibc

/// The result of stat(2) for a file, as far as Latchkey uses it.
public struct FileStatus: Sendable {
    public enum Kind: Sendable { case file, directory, socket, other }

    public let kind: Kind
    public let owner: UInt32
    /// The twelve permission bits.
    public let permissions: UInt32
    public let size: Int64
    /// Identifies a file: its file system and its inode number.
    public let identity: Identity

    public struct Identity: Hashable, Sendable {
        let device: UInt64
        let number: UInt64
    }

    /// Whether two files are on different file systems.
    public func isOnAnotherDevice(than other: FileStatus) -> Bool { identity.device != other.identity.device }

    /// Identifies a state of a file, so that a later change can be detected.
    public struct Stamp: Hashable, Sendable {
        let identity: Identity?
        let size: Int64
        let seconds: Int
        let nanoseconds: Int

        /// Whether the file existed.
        public var isOfFile: Bool { identity != nil }
    }

    /// Returns the state of the file at `path`; all missing files have the same state.
    public static func stamp(of path: String) -> Stamp {
        var info = stat()
        guard stat(path, &info) == 0 else { return Stamp(identity: nil, size: 0, seconds: 0, nanoseconds: 0) }
        let status = FileStatus(info)
        return Stamp(
            identity: status.identity, size: status.size, seconds: info.st_ctim.tv_sec,
            nanoseconds: info.st_ctim.tv_nsec)
    }

    /// Returns the status of the file at `path`; nil if it does not exist.
    public static func of(_ path: FilePath) throws(SystemError) -> FileStatus? {
        try found(path) { stat($0, &$1) }
    }

    @_disfavoredOverload
    public static func of(_ path: String) throws(SystemError) -> FileStatus? { try of(FilePath(path)) }

    /// Returns the status of `path` itself, even if it is a symbolic link; nil if it does not
    /// exist.
    public static func ofLink(_ path: FilePath) throws(SystemError) -> FileStatus? {
        try found(path) { lstat($0, &$1) }
    }

    @_disfavoredOverload
    public static func ofLink(_ path: String) throws(SystemError) -> FileStatus? { try ofLink(FilePath(path)) }

    private static func found(
        _ path: FilePath, _ call: (UnsafePointer<CChar>, inout stat) -> Int32
    ) throws(SystemError) -> FileStatus? {
        var info = stat()
        guard path.withCString({ call($0, &info) }) == 0 else {
            if errno == ENOENT { return nil }
            throw .last("get the status of", path: path)
        }
        return FileStatus(info)
    }

    /// Returns the status of an open file.
    public static func of(_ descriptor: borrowing OwnedDescriptor, path: String) throws(SystemError) -> FileStatus {
        var info = stat()
        guard fstat(descriptor.rawValue, &info) == 0 else { throw .last("get the status of", path: path) }
        return FileStatus(info)
    }

    init(_ info: stat) {
        kind =
            switch info.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFSOCK: .socket
            default: .other
            }
        owner = info.st_uid
        permissions = info.st_mode & 0o7777
        size = Int64(info.st_size)
        identity = Identity(device: UInt64(info.st_dev), number: UInt64(info.st_ino))
    }

    /// Throws if the file belongs to another user or others can write it.
    public func requireWrittenOnly(by user: UInt32, path: String) throws(SystemError) {
        guard owner == user else {
            throw SystemError("trust", path: path, code: EPERM, hint: "it belongs to user \(owner), not \(user)")
        }
        guard permissions & 0o022 == 0 else {
            throw SystemError(
                "trust", path: "\(path) (others can write it)", code: EACCES, hint: "chmod go-w \(path.shellQuoted)")
        }
    }

    /// Throws if other users can access the file, or if it belongs to another user.
    public func requirePrivate(path: String, allowed: UInt32) throws(SystemError) {
        guard owner == geteuid() else {
            throw SystemError(
                "trust", path: path, code: EPERM,
                hint: "it belongs to user \(owner); chown it, or set LATCHKEY_HOME to another directory")
        }
        // A directory inherits the set-group-ID bit of its parent; the bit does not grant access.
        let checkedBits: UInt32 = kind == .directory ? 0o077 : 0o7077
        guard permissions & ~allowed & checkedBits == 0 else {
            let wide = String(permissions, radix: 8)
            let mode = String(allowed, radix: 8)
            throw SystemError(
                "trust", path: "\(path) (mode \(wide), others can access it)", code: EACCES,
                hint: "chmod \(mode) \(path.shellQuoted)")
        }
    }
}

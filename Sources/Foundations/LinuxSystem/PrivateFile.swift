// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Reads and writes small files of mode 0600 as a whole.
public enum PrivateFile {
    /// Fills `buffer` with the file's content. The content must have exactly that length.
    ///
    /// - Returns: false if the file does not exist.
    /// - Throws: `SystemError` if the file is not private, not a regular file, or has another
    ///   length (`EINVAL`).
    public static func read(_ path: String, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Bool {
        let descriptor: OwnedDescriptor
        do {
            // O_NONBLOCK, so that opening a pipe without a writer does not wait.
            descriptor = try OwnedDescriptor(opening: path, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        } catch {
            if error.code == ENOENT { return false }
            throw error
        }
        let status = try FileStatus.of(descriptor, path: path)
        guard status.kind == .file else { throw SystemError("read", path: path, code: EINVAL) }
        try status.requirePrivate(path: path, allowed: 0o600)
        guard status.size == buffer.count, try descriptor.read(into: buffer, path: path) == buffer.count else {
            throw SystemError(
                "read", path: "\(path) (expected \(buffer.count) bytes, found \(status.size))", code: EINVAL)
        }
        return true
    }

    /// Returns the file's content; nil if the file does not exist.
    ///
    /// - Throws: `SystemError` if the file is not private, not a regular file, or longer than
    ///   `maxCount` bytes (`EFBIG`).
    public static func read(_ path: String, atMost maxCount: Int) throws(SystemError) -> [UInt8]? {
        guard let status = try FileStatus.ofLink(path) else { return nil }
        guard status.size <= maxCount else { throw SystemError("read", path: path, code: EFBIG) }
        var bytes = [UInt8](repeating: 0, count: Int(status.size))
        var exists = false
        do {
            try bytes.withUnsafeMutableBytes { exists = try read(path, into: $0) }
        } catch {
            throw error as? SystemError ?? SystemError("read", path: path, code: EIO)
        }
        return exists ? bytes : nil
    }

    /// Fills `buffer` with the content of the file or pipe, as far as it fits. Links are followed.
    ///
    /// - Parameter isPrivate: whether a file that other users can access is rejected.
    /// - Returns: the number of bytes.
    public static func fill(
        _ buffer: UnsafeMutableRawBufferPointer, from path: FilePath, isPrivate: Bool
    ) throws(SystemError) -> Int {
        let descriptor = try OwnedDescriptor(opening: path, flags: O_RDONLY | O_NOCTTY)
        let shown = path.description
        let status = try FileStatus.of(descriptor, path: shown)
        guard status.kind != .directory else { throw SystemError("read", path: shown, code: EISDIR) }
        if isPrivate { try status.requirePrivate(path: shown, allowed: 0o600) }
        return try descriptor.read(into: buffer, path: shown)
    }

    /// Replaces or creates the file atomically: after a crash, either the old or the new content is
    /// there completely.
    ///
    /// Only one process at a time may do that; use a ``FileLock``.
    public static func replace(_ name: String, in directory: PrivateDirectory, content: [UInt8]) throws(SystemError) {
        let path = directory.appending(name)
        let temporaryPath = "\(path).draft"
        let descriptor = try OwnedDescriptor(
            opening: temporaryPath, flags: O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o600)
        try descriptor.makePrivate(path: temporaryPath)
        try content.withUnsafeBufferPointer { (bytes) throws(SystemError) in
            try descriptor.write(UnsafeRawBufferPointer(bytes), path: temporaryPath)
        }
        try descriptor.synchronize(path: temporaryPath)
        guard rename(temporaryPath, path) == 0 else { throw .last("replace", path: path) }
        try directory.synchronize()
    }

    /// Removes the file durably; it may be missing.
    public static func remove(_ name: String, in directory: PrivateDirectory) throws(SystemError) {
        let path = directory.appending(name)
        if unlink(path) == 0 { return try directory.synchronize() }
        guard errno == ENOENT else { throw .last("remove", path: path) }
    }

    /// Creates an empty file if there is none.
    public static func createEmpty(_ path: String) throws(SystemError) {
        do {
            let descriptor = try OwnedDescriptor(
                opening: path, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
            try descriptor.makePrivate(path: path)
        } catch {
            guard error.code == EEXIST else { throw error }
        }
    }

    /// Creates the file with this content atomically: afterwards it exists completely and durably
    /// or not at all, even after a crash.
    ///
    /// - Returns: false if another process has created the file first; its file is not changed.
    public static func create(
        _ name: String, in directory: PrivateDirectory, content: UnsafeRawBufferPointer
    ) throws(SystemError) -> Bool {
        let path = directory.appending(name)
        do {
            return try linkUnnamed(path, in: directory, content: content)
        } catch {
            // Not every file system supports unnamed files, and not every sandbox has /proc.
            guard [EOPNOTSUPP, EISDIR, EINVAL, ENOENT].contains(error.code) else { throw error }
            return try linkTemporaryFile(path, in: directory, content: content)
        }
    }

    /// Creates the file from an unnamed file that gets its name when it is complete, so that an
    /// interrupted call leaves nothing behind.
    static func linkUnnamed(_ path: String, in directory: PrivateDirectory, content: UnsafeRawBufferPointer)
        throws(SystemError) -> Bool
    {
        let descriptor = try OwnedDescriptor(unnamedIn: directory.path, flags: O_WRONLY)
        try descriptor.makePrivate(path: path)
        try descriptor.write(content, path: path)
        try descriptor.synchronize(path: path)
        return try publish(path, in: directory) {
            linkat(AT_FDCWD, "/proc/self/fd/\(descriptor.rawValue)", AT_FDCWD, path, AT_SYMLINK_FOLLOW)
        }
    }

    /// Creates the file from a draft with a fixed name. If a process is killed, the next one uses
    /// its draft.
    static func linkTemporaryFile(_ path: String, in directory: PrivateDirectory, content: UnsafeRawBufferPointer)
        throws(SystemError) -> Bool
    {
        let temporaryPath = "\(path).draft"
        let descriptor = try OwnedDescriptor(
            opening: temporaryPath, flags: O_WRONLY | O_CREAT | O_NOFOLLOW, mode: 0o600)
        // One process at a time; the kernel releases the lock when the process ends.
        guard flock(descriptor.rawValue, LOCK_EX) == 0 else { throw .last("lock", path: temporaryPath) }
        defer { unlink(temporaryPath) }
        // If the file is published by now, the draft that was locked is the same file and must not
        // be changed.
        guard try FileStatus.of(path) == nil else { return false }
        try descriptor.makePrivate(path: temporaryPath)
        guard ftruncate(descriptor.rawValue, 0) == 0 else { throw .last("write", path: temporaryPath) }
        try descriptor.write(content, path: temporaryPath)
        try descriptor.synchronize(path: temporaryPath)
        return try publish(path, in: directory) { link(temporaryPath, path) }
    }

    /// Publishes the draft. link(2) never replaces a file: of two processes exactly one succeeds,
    /// and its file is complete.
    private static func publish(_ path: String, in directory: PrivateDirectory, link: () -> Int32) throws(SystemError)
        -> Bool
    {
        guard link() == 0 else {
            if errno == EEXIST { return false }
            throw .last("create", path: path)
        }
        try directory.synchronize()
        return true
    }
}

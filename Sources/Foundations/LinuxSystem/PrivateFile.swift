// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A small file of mode 0600, read and made whole.
public enum PrivateFile {
    /// Fills `buffer` with the file's content, which must have exactly that length.
    ///
    /// - Returns: false where there is no such file.
    /// - Throws: `SystemError` where the file is not private, not a file, or of another length (`EINVAL`).
    public static func read(_ path: String, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Bool {
        let descriptor: OwnedDescriptor
        do {
            // Without waiting, should it be a pipe that nobody writes to.
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

    /// The file's content; nil where there is no such file.
    ///
    /// - Throws: `SystemError` where the file is not private, not a file, or longer than `maxCount` bytes (`EFBIG`).
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

    /// Fills `buffer` with what the file or pipe holds, as far as it fits. Links are followed.
    ///
    /// - Parameter isPrivate: whether to refuse a file that others can read.
    /// - Returns: the number of bytes.
    public static func fill(
        _ buffer: UnsafeMutableRawBufferPointer, from path: String, isPrivate: Bool
    ) throws(SystemError) -> Int {
        let descriptor = try OwnedDescriptor(opening: path, flags: O_RDONLY | O_NOCTTY)
        let status = try FileStatus.of(descriptor, path: path)
        guard status.kind != .directory else { throw SystemError("read", path: path, code: EISDIR) }
        if isPrivate { try status.requirePrivate(path: path, allowed: 0o600) }
        return try descriptor.read(into: buffer, path: path)
    }

    /// Replaces the file in one step, or makes it: after a crash the old content is there or the new one, whole.
    ///
    /// One process at a time may do so; who needs that holds a ``FileLock``.
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

    /// Removes the file, durably; it may be missing.
    public static func remove(_ name: String, in directory: PrivateDirectory) throws(SystemError) {
        let path = directory.appending(name)
        if unlink(path) == 0 { return try directory.synchronize() }
        guard errno == ENOENT else { throw .last("remove", path: path) }
    }

    /// Makes an empty file, unless there is one.
    public static func createEmpty(_ path: String) throws(SystemError) {
        do {
            let descriptor = try OwnedDescriptor(
                opening: path, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
            try descriptor.makePrivate(path: path)
        } catch {
            guard error.code == EEXIST else { throw error }
        }
    }

    /// Makes the file with this content in one step: afterwards it is there whole and durable, or not at all, also after a crash.
    ///
    /// - Returns: false where another process was first; its file is left as it is.
    public static func create(
        _ name: String, in directory: PrivateDirectory, content: UnsafeRawBufferPointer
    ) throws(SystemError) -> Bool {
        let path = directory.appending(name)
        do {
            return try linkUnnamed(path, in: directory, content: content)
        } catch {
            // Not every file system has unnamed files, and not every sandbox has /proc.
            guard [EOPNOTSUPP, EISDIR, EINVAL, ENOENT].contains(error.code) else { throw error }
            return try linkTemporaryFile(path, in: directory, content: content)
        }
    }

    /// By a file that has no name until it is complete, so that nothing remains of one that never was.
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

    /// By a draft under a fixed name, which the next process takes over where one was killed over it.
    static func linkTemporaryFile(_ path: String, in directory: PrivateDirectory, content: UnsafeRawBufferPointer)
        throws(SystemError) -> Bool
    {
        let temporaryPath = "\(path).draft"
        let descriptor = try OwnedDescriptor(
            opening: temporaryPath, flags: O_WRONLY | O_CREAT | O_NOFOLLOW, mode: 0o600)
        // One process at a time; the lock goes with the process.
        guard flock(descriptor.rawValue, LOCK_EX) == 0 else { throw .last("lock", path: temporaryPath) }
        defer { unlink(temporaryPath) }
        // Once the file is published, the draft that was waited for is that very file, and must not be touched.
        guard try FileStatus.of(path) == nil else { return false }
        try descriptor.makePrivate(path: temporaryPath)
        guard ftruncate(descriptor.rawValue, 0) == 0 else { throw .last("write", path: temporaryPath) }
        try descriptor.write(content, path: temporaryPath)
        try descriptor.synchronize(path: temporaryPath)
        return try publish(path, in: directory) { link(temporaryPath, path) }
    }

    /// link(2) never replaces: of two first processes exactly one succeeds, and the file it leaves is complete.
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

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
            descriptor = try OwnedDescriptor(opening: path, flags: O_RDONLY | O_NOFOLLOW)
        } catch {
            if error.code == ENOENT { return false }
            throw error
        }
        let status = try FileStatus.of(descriptor, path: path)
        guard status.kind == .file else { throw SystemError("read", path: path, code: EINVAL) }
        try status.requirePrivate(path: path, allowed: 0o600)
        guard status.size == buffer.count, try descriptor.read(into: buffer, path: path) == buffer.count else {
            throw SystemError("read", path: "\(path) (expected \(buffer.count) bytes, found \(status.size))", code: EINVAL)
        }
        return true
    }

    /// Makes the file with this content in one step: afterwards it is there whole and durable, or not at all.
    ///
    /// - Returns: false where another process was first; its file is left as it is.
    public static func create(
        _ name: String, in directory: PrivateDirectory, content: UnsafeRawBufferPointer
    ) throws(SystemError) -> Bool {
        let path = directory.appending(name)
        let draft = directory.appending(".\(name).\(getpid()).\(RandomBytes.hexadecimal(count: 6))")
        defer { unlink(draft) }
        do {
            let descriptor = try OwnedDescriptor(opening: draft, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
            try descriptor.write(content, path: draft)
            try descriptor.synchronize(path: draft)
        }
        // link(2) never replaces: of two first processes exactly one succeeds, and the file it leaves is complete.
        guard link(draft, path) == 0 else {
            if errno == EEXIST { return false }
            throw .last("create", path: path)
        }
        unlink(draft)
        try directory.synchronize()
        return true
    }
}

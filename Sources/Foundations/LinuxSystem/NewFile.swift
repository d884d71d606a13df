// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
internal import Glibc

/// Files without secrets that are created as a whole, and replace nothing.
public enum NewFile {
    /// Creates the file atomically: afterwards it exists completely and durably or not at all, even after
    /// a crash. The umask applies to the mode.
    ///
    /// Where the file system has no unnamed files, a killed process can leave a draft beside the file;
    /// ``OpenDirectory/removeDraft(_:)`` removes it.
    ///
    /// - Throws: EEXIST if there is anything at the path, also a link that leads nowhere.
    public static func create(_ path: String, content: [UInt8], mode: UInt32) throws(SystemError) {
        guard let parent = ParentDirectory.of(path) else { throw SystemError("create", path: path, code: EISDIR) }
        try content.withUnsafeBufferPointer { (buffer) throws(SystemError) in
            let bytes = UnsafeRawBufferPointer(buffer)
            do throws(SystemError) {
                try linkUnnamed(path, in: parent, content: bytes, mode: mode)
            } catch {
                // Not every file system supports unnamed files, and not every sandbox has /proc.
                guard [EOPNOTSUPP, EISDIR, EINVAL, ENOENT].contains(error.code) else { throw error }
                try linkDraft(path, in: parent, content: bytes, mode: mode)
            }
        }
        let directory = try OwnedDescriptor(opening: parent, flags: O_RDONLY | O_DIRECTORY)
        try directory.synchronize(path: parent)
    }

    /// Creates the file from an unnamed file, so that a killed process leaves nothing behind.
    ///
    /// - Parameter check: called before the file gets its name; nothing is created if it throws.
    static func linkUnnamed(
        _ path: String, in parent: String, content: UnsafeRawBufferPointer, mode: UInt32,
        check: () throws(SystemError) -> Void = {}
    ) throws(SystemError) {
        let file = try OwnedDescriptor(unnamedIn: parent, flags: O_WRONLY, mode: mode)
        try file.write(content, path: path)
        try file.synchronize(path: path)
        try check()
        guard linkat(AT_FDCWD, "/proc/self/fd/\(file.rawValue)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 else {
            throw .last("create", path: path)
        }
    }

    /// Creates the file from a draft beside it.
    static func linkDraft(
        _ path: String, in parent: String, content: UnsafeRawBufferPointer, mode: UInt32,
        check: () throws(SystemError) -> Void = {}
    ) throws(SystemError) {
        let draft = "\(parent)/\(OpenDirectory.draftPrefix)\(RandomBytes.hexadecimal(count: 8))"
        let file = try OwnedDescriptor(opening: draft, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
        defer { unlink(draft) }
        // OpenDirectory.removeDraft(_:) of another process leaves it alone.
        guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 else { throw .last("lock", path: draft) }
        try file.write(content, path: path)
        try file.synchronize(path: path)
        try check()
        // Neither link(2) nor this rename replaces a file; some file systems have no hard links.
        if link(draft, path) == 0 { return }
        guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno), latchkey_rename_new(AT_FDCWD, draft, path) == 0 else {
            throw .last("create", path: path)
        }
    }
}

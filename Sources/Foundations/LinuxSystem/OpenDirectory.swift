// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
internal import Glibc

/// An open directory: operations on its entries stay in it, even if its path is replaced meanwhile. Its entries are
/// never followed as symbolic links.
public final class OpenDirectory: Sendable {
    /// As it was when the directory was opened: for messages.
    public let path: FilePath
    private let descriptor: OwnedDescriptor

    public struct Entry: Hashable, Sendable {
        public let name: FilePath
        public let kind: Kind

        public enum Kind: Sendable { case file, directory, link, other }
    }

    /// - Parameter path: the last part must not be a symbolic link.
    public init(_ path: FilePath) throws(SystemError) {
        self.path = path
        descriptor = try OwnedDescriptor(opening: path, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    }

    @_disfavoredOverload
    public convenience init(_ path: String) throws(SystemError) { try self.init(FilePath(path)) }

    /// - Parameter path: may be a symbolic link.
    public init(followingLinks path: FilePath) throws(SystemError) {
        self.path = path
        descriptor = try OwnedDescriptor(opening: path, flags: O_RDONLY | O_DIRECTORY)
    }

    private init(adopting descriptor: consuming OwnedDescriptor, path: FilePath) {
        self.descriptor = descriptor
        self.path = path
    }

    public func path(of name: FilePath) -> FilePath { path == "." ? name : path.appending(name) }

    /// The identity of the directory, under any path.
    public var identity: FileStatus.Identity {
        get throws(SystemError) { try FileStatus.of(descriptor, path: path.description).identity }
    }

    /// Opens a directory in this one.
    public func directory(_ name: FilePath) throws(SystemError) -> OpenDirectory {
        let child = try open(name, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        return OpenDirectory(adopting: child, path: path(of: name))
    }

    /// Opens a file in this directory. A pipe without a writer does not block.
    public func open(_ name: FilePath, flags: Int32, mode: UInt32 = 0o600) throws(SystemError) -> OwnedDescriptor {
        let child = name.withCString {
            openat(descriptor.rawValue, $0, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode)
        }
        guard child >= 0 else { throw .last("open", path: path(of: name)) }
        return OwnedDescriptor(adopting: child)
    }

    /// The entries, in the order of their names, without `.` and `..`.
    public func entries() throws(SystemError) -> [Entry] {
        // A descriptor of its own, because reading moves its position.
        let copy = openat(descriptor.rawValue, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { throw .last("list", path: path) }
        guard let stream = fdopendir(copy) else {
            close(copy)
            throw .last("list", path: path)
        }
        defer { closedir(stream) }
        var entries: [Entry] = []
        while true {
            errno = 0
            guard let found = readdir(stream) else {
                guard errno == 0 else { throw .last("list", path: path) }
                return entries.sorted { $0.name < $1.name }
            }
            let name = withUnsafePointer(to: &found.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: Self.maxName) { FilePath(cString: $0) }
            }
            guard name != ".", name != "..", let kind = try kind(name) else { continue }
            entries.append(Entry(name: name, kind: kind))
        }
    }

    /// Returns nil if the entry was removed since it was listed.
    private func kind(_ name: FilePath) throws(SystemError) -> Entry.Kind? {
        var info = stat()
        guard name.withCString({ fstatat(descriptor.rawValue, $0, &info, AT_SYMLINK_NOFOLLOW) }) == 0 else {
            if errno == ENOENT { return nil }
            throw .last("get the status of", path: path(of: name))
        }
        return switch info.st_mode & S_IFMT {
        case S_IFREG: .file
        case S_IFDIR: .directory
        case S_IFLNK: .link
        default: .other
        }
    }

    /// The size of `d_name`.
    private static let maxName = 256

    // MARK: Changing

    /// Gives an unnamed file a name: the name of a file that it replaces, or a new one. The file is durable before it
    /// has the name; ``synchronize()`` makes the name durable.
    ///
    /// - Parameters:
    ///   - draft: a descriptor of ``unnamedFile()``.
    ///   - replaces: whether an existing file is replaced; otherwise it is an error (`EEXIST`).
    ///   - check: called last; nothing is replaced if it throws.
    public func publish(
        _ draft: borrowing OwnedDescriptor, as name: FilePath, replaces: Bool,
        check: () throws(SystemError) -> Void = {}
    ) throws(SystemError) {
        // removeDraft(_:) of another process leaves it alone.
        guard flock(draft.rawValue, LOCK_EX | LOCK_NB) == 0 else { throw .last("lock", path: path(of: name)) }
        let temporary = Self.draftPrefix + RandomBytes.array(count: 8).map { String($0, radix: 36) }.joined()
        let link = "/proc/self/fd/\(draft.rawValue)"
        guard linkat(AT_FDCWD, link, descriptor.rawValue, temporary, AT_SYMLINK_FOLLOW) == 0 else {
            throw .last("create", path: path(of: name))
        }
        do throws(SystemError) {
            // Not before it has a name: file systems may not keep a file without one.
            try draft.synchronize(path: path(of: name).description)
            try check()
        } catch {
            unlinkat(descriptor.rawValue, temporary, 0)
            throw error
        }
        let result = name.withCString { name in
            replaces
                ? renameat(descriptor.rawValue, temporary, descriptor.rawValue, name)
                : latchkey_rename_new(descriptor.rawValue, temporary, name)
        }
        guard result == 0 else {
            let error = SystemError.last(replaces ? "replace" : "create", path: path(of: name))
            unlinkat(descriptor.rawValue, temporary, 0)
            throw error
        }
    }

    /// Returns a file without a name. It ends with its descriptor.
    public func unnamedFile() throws(SystemError) -> OwnedDescriptor {
        // The bits of O_TMPFILE in asm-generic/fcntl.h: the Glibc module does not export it.
        let draft = openat(descriptor.rawValue, ".", O_RDWR | O_CLOEXEC | O_DIRECTORY | 0o20000000, 0o600)
        guard draft >= 0 else { throw .last("create a file in", path: path) }
        return OwnedDescriptor(adopting: draft)
    }

    /// Removes the file that a killed process left between the two steps of ``publish(_:as:replaces:)``: a complete
    /// file with a second name.
    ///
    /// - Returns: whether the name is one of those.
    public func removeDraft(_ name: FilePath) throws(SystemError) -> Bool {
        guard name.hasPrefix(Self.draftPrefix) else { return false }
        let draft = try open(name, flags: O_RDONLY)
        guard flock(draft.rawValue, LOCK_EX | LOCK_NB) == 0 else { return true }
        do throws(SystemError) { try remove(name) } catch { if error.code != ENOENT { throw error } }
        return true
    }

    public func remove(_ name: FilePath) throws(SystemError) { try unlink(name, flags: 0) }

    /// Creates a directory of mode 0700.
    public func makeDirectory(_ name: FilePath) throws(SystemError) {
        guard name.withCString({ mkdirat(descriptor.rawValue, $0, 0o700) }) == 0 else {
            throw .last("create the directory", path: path(of: name))
        }
    }

    /// Gives an entry another name. A file or an empty directory that has it is replaced.
    public func rename(_ name: FilePath, to newName: FilePath) throws(SystemError) {
        let result = name.withCString { name in
            newName.withCString { renameat(descriptor.rawValue, name, descriptor.rawValue, $0) }
        }
        guard result == 0 else { throw .last("rename", path: path(of: name)) }
    }

    /// Removes an empty directory.
    public func removeDirectory(_ name: FilePath) throws(SystemError) { try unlink(name, flags: AT_REMOVEDIR) }

    private func unlink(_ name: FilePath, flags: Int32) throws(SystemError) {
        guard name.withCString({ unlinkat(descriptor.rawValue, $0, flags) }) == 0 else {
            throw .last("remove", path: path(of: name))
        }
    }

    /// Makes the names of this directory durable.
    public func synchronize() throws(SystemError) { try descriptor.synchronize(path: path.description) }

    /// The beginning of the names of unpublished files.
    public static let draftPrefix = ".latchkey-draft-"
}

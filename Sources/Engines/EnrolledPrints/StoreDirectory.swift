// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// An open directory of the store. Its entries are opened without following links.
struct StoreDirectory: ~Copyable {
    private let descriptor: OwnedDescriptor
    private let path: String

    /// Opens the directory at `path`; nil if it does not exist. Only its last component must not be
    /// a link.
    init?(_ path: String) throws(SystemError) {
        do throws(SystemError) {
            self.init(try OwnedDescriptor(opening: path, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW), path: path)
        } catch  where error.code == ENOENT {
            return nil
        } catch {
            throw error
        }
    }

    private init(_ descriptor: consuming OwnedDescriptor, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Opens a directory in this one; nil if it does not exist.
    func directory(_ name: String) throws(SystemError) -> StoreDirectory? {
        guard let opened = try open(name, O_DIRECTORY) else { return nil }
        return StoreDirectory(opened, path: "\(path)/\(name)")
    }

    /// Returns the content of a regular file in this directory.
    func file(_ name: String, maxLength: Int) throws(SystemError) -> [UInt8] {
        guard let opened = try open(name, O_NONBLOCK | O_NOCTTY) else {
            throw SystemError("open", path: "\(path)/\(name)", code: ENOENT)
        }
        return try BoundedFile.read(opened, path: "\(path)/\(name)", limit: maxLength)
    }

    private func open(_ name: String, _ flags: Int32) throws(SystemError) -> OwnedDescriptor? {
        let opened = openat(descriptor.rawValue, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags)
        guard opened >= 0 else {
            guard errno != ENOENT else { return nil }
            throw .last("open", path: "\(path)/\(name)")
        }
        return OwnedDescriptor(adopting: opened)
    }

    /// Returns the names of all entries, in no order.
    ///
    /// - Throws: EFBIG for more than ``maxEntries``, EILSEQ for a name that is not UTF-8.
    func names() throws(SystemError) -> [String] {
        // The stream owns its descriptor, and begins at the first entry.
        let copy = openat(descriptor.rawValue, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let stream = fdopendir(copy) else {
            let error = SystemError.last("read the directory", path: path)
            if copy >= 0 { close(copy) }
            throw error
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw .last("read the directory", path: path) }
                return names
            }
            let bytes = withUnsafeBytes(of: entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            guard let name = String(validating: bytes, as: UTF8.self) else {
                throw SystemError("read a name in", path: path, code: EILSEQ)
            }
            guard name != ".", name != ".." else { continue }
            guard names.count < Self.maxEntries else { throw SystemError("read all of", path: path, code: EFBIG) }
            names.append(name)
        }
    }

    /// Whether the text is one component of a path.
    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text != "." && text != ".." && text.utf8.allSatisfy { $0 != 0 && $0 != UInt8(ascii: "/") }
    }

    /// The entries of one directory: ten fingers, or some readers.
    private static let maxEntries = 64
}

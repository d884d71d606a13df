// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A directory of mode 0700 that belongs to this user.
public struct PrivateDirectory: Hashable, Sendable {
    public let path: String

    /// Creates the directory and its missing parents if they do not exist. Throws if other users
    /// can access it.
    ///
    /// Only the last component must be private; the parents are the user's responsibility.
    public init(creating path: String) throws(SystemError) {
        if try FileStatus.of(path) == nil {
            try Self.makeParents(of: path)
            if mkdir(path, 0o700) == 0 {
                // An unusual umask may have removed the owner's permissions.
                guard chmod(path, 0o700) == 0 else { throw .last("change the mode of", path: path) }
            } else if errno != EEXIST {
                throw .last("create the directory", path: path)
            }
        }
        try self.init(existing: path)
    }

    /// Throws if the directory is missing, is not a directory, or other users can access it.
    public init(existing path: String) throws(SystemError) {
        guard let status = try FileStatus.of(path) else {
            throw SystemError("open the directory", path: path, code: ENOENT)
        }
        guard status.kind == .directory else {
            throw SystemError("open the directory", path: path, code: ENOTDIR)
        }
        try status.requirePrivate(path: path, allowed: 0o700)
        self.path = path
    }

    /// Returns the path of an entry of this directory.
    public func appending(_ name: String) -> String {
        path.hasSuffix("/") ? path + name : "\(path)/\(name)"
    }

    /// Writes the directory's entries to the storage device before it returns (fsync(2)).
    public func synchronize() throws(SystemError) {
        let descriptor = try OwnedDescriptor(opening: path, flags: O_RDONLY | O_DIRECTORY)
        try descriptor.synchronize(path: path)
    }

    /// Creates the missing parents of a file or a directory, with mode 0700.
    public static func makeParents(of path: String) throws(SystemError) {
        let components = path.split(separator: "/", omittingEmptySubsequences: true).dropLast()
        var parent = path.hasPrefix("/") ? "" : "."
        for component in components {
            parent += "/\(component)"
            if mkdir(parent, 0o700) != 0, errno != EEXIST {
                let error = SystemError.last("create the directory", path: parent)
                // On some file systems, mkdir(2) of an existing parent that is not writable fails
                // with EACCES or EROFS.
                if (try? FileStatus.of(parent))??.kind != .directory { throw error }
            }
        }
    }
}

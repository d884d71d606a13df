// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A directory of mode 0700 that belongs to this user.
public struct PrivateDirectory: Hashable, Sendable {
    public let path: String

    /// Makes the directory, and its missing parents, where they do not exist; refuses one that others can reach.
    ///
    /// Only the last component has to be private: the parents are the user's own business.
    public init(creating path: String) throws(SystemError) {
        if try FileStatus.of(path) == nil {
            try Self.makeParents(of: path)
            if mkdir(path, 0o700) == 0 {
                // An unusual umask may have taken the owner's own rights.
                guard chmod(path, 0o700) == 0 else { throw .last("change the mode of", path: path) }
            } else if errno != EEXIST {
                throw .last("create the directory", path: path)
            }
        }
        try self.init(existing: path)
    }

    /// Refuses a directory that is missing, is none, or that others can reach.
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

    /// The path of an entry of this directory.
    public func appending(_ name: String) -> String {
        path.hasSuffix("/") ? path + name : "\(path)/\(name)"
    }

    /// Returns once the directory's entries are on the medium.
    public func synchronize() throws(SystemError) {
        let descriptor = try OwnedDescriptor(opening: path, flags: O_RDONLY | O_DIRECTORY)
        try descriptor.synchronize(path: path)
    }

    private static func makeParents(of path: String) throws(SystemError) {
        let components = path.split(separator: "/", omittingEmptySubsequences: true).dropLast()
        var parent = path.hasPrefix("/") ? "" : "."
        for component in components {
            parent += "/\(component)"
            if mkdir(parent, 0o700) != 0, errno != EEXIST {
                let error = SystemError.last("create the directory", path: parent)
                // A parent that exists but may not be written answers EACCES or EROFS for mkdir of itself on some file systems.
                if (try? FileStatus.of(parent))??.kind != .directory { throw error }
            }
        }
    }
}

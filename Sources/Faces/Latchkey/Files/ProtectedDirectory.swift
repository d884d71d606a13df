// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
public import KeychainModel
internal import LinuxSystem

/// The class of the new files of a directory.
public enum ProtectedDirectory {
    /// Returns the class that new files below a directory get without a choice of their own; nil if no
    /// directory above them has one.
    public static func protection(of path: String) throws(KeychainError) -> FileProtectionClass? {
        try mapErrors(path) { () throws(FileProtectionError) in
            try ProtectionPolicy.nearest(to: FilePath(path))?.protection
        }
    }

    /// Gives new files below a directory a class, by its file `.latchkey-protect`. Existing files stay as
    /// they are.
    ///
    /// - Parameters:
    ///   - protection: the class of new files.
    ///   - path: the directory.
    ///   - group: the access group of new files; nil for the first one of the program.
    public static func setProtection(
        _ protection: FileProtectionClass, of path: String, group: String? = nil
    ) throws(KeychainError) {
        try mapErrors(path) { () throws(FileProtectionError) in
            let directory = try mapSystemErrors { () throws(SystemError) in
                try OpenDirectory(followingLinks: FilePath(path))
            }
            try ProtectionPolicy(protection, group: group).write(in: directory)
        }
    }
}

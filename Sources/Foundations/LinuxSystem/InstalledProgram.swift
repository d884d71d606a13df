// SPDX-License-Identifier: Apache-2.0

/// A program in a fixed directory that only root and one other user can replace.
///
/// Neither a caller's PATH nor a file of another user decides which program runs.
public struct InstalledProgram: Hashable, Sendable {
    public let path: String
    public let identity: FileStatus.Identity

    /// Returns nil unless the file at the path is an executable that only root and the owner can
    /// replace.
    ///
    /// - Parameter owner: the user who alone may be able to replace the program, beside root.
    public init?(at path: String, owner: UInt32) {
        guard let status = (try? FileStatus.of(path)) ?? nil, status.kind == .file, status.permissions & 0o111 != 0,
            status.permissions & 0o022 == 0, status.owner == 0 || status.owner == owner
        else { return nil }
        do throws(SystemError) {
            guard try ReplaceableParent.first(above: path, user: owner) == nil else { return nil }
        } catch {
            return nil
        }
        self.path = path
        identity = status.identity
    }

    /// Returns the first such program with this name; nil if there is none.
    public static func first(named name: String, in directories: [String], owner: UInt32) -> InstalledProgram? {
        for directory in directories {
            if let program = InstalledProgram(at: "\(directory)/\(name)", owner: owner) { return program }
        }
        return nil
    }
}

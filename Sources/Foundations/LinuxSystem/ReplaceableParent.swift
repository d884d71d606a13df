// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A directory or symbolic link above a path; it lets another user replace the file at that path.
public struct ReplaceableParent: Hashable, Sendable {
    public enum Reason: Hashable, Sendable {
        /// Every user can write the directory, and it has no sticky bit.
        case writableByAll(permissions: UInt32)
        /// It belongs to a user other than root and the caller.
        case ownedBy(UInt32)
    }

    public let path: String
    public let reason: Reason

    /// Returns the first such directory or link, starting at the root; nil if only root and `user`
    /// can replace the file at `path`.
    ///
    /// Links are followed as the kernel does, also if `path` itself is a link. The directory at
    /// `path` and missing directories are not checked. The permissions of the group are not checked
    /// either, because the administrator decides who is in a group.
    public static func first(above path: String, user: UInt32) throws(SystemError) -> ReplaceableParent? {
        var current = "/"
        // In reverse order: the next component is the last one.
        var rest = components(try AbsolutePath.of(path))
        var linkCount = 0
        if let root = try FileStatus.ofLink(current), let found = replaceableParent(root, at: current, user) {
            return found
        }
        while let name = rest.popLast() {
            // The directories above `current` have been checked and contain no links.
            if name == ".." {
                current = ParentDirectory.of(current) ?? "/"
                continue
            }
            let next = current == "/" ? "/\(name)" : "\(current)/\(name)"
            guard let status = try FileStatus.ofLink(next) else { return nil }
            if let target = try linkTarget(next) {
                if let reason = foreignOwner(status, user) { return ReplaceableParent(path: next, reason: reason) }
                linkCount += 1
                guard linkCount <= maxLinks else { throw SystemError("follow", path: path, code: ELOOP) }
                if target.hasPrefix("/") { current = "/" }
                rest += components(target)
            } else {
                if !rest.isEmpty, let found = replaceableParent(status, at: next, user) { return found }
                current = next
            }
        }
        return nil
    }

    /// The problem, as a sentence.
    public var problem: String {
        switch reason {
        case .writableByAll(let permissions):
            "every user can write \(path) (mode \(String(permissions, radix: 8)), no sticky bit), and so replace the files below it"
        case .ownedBy(let owner): "\(path) belongs to user \(owner), who can replace the files below it"
        }
    }

    /// The command or the action that corrects it.
    public var hint: String {
        switch reason {
        case .writableByAll: "chmod o-w '\(path)'"
        case .ownedBy: "chown it to yourself or root, or set LATCHKEY_HOME to a path below a directory of your own"
        }
    }

    // MARK: Checks

    private static func replaceableParent(_ status: FileStatus, at path: String, _ user: UInt32) -> ReplaceableParent? {
        if let reason = foreignOwner(status, user) { return ReplaceableParent(path: path, reason: reason) }
        // In a directory with the sticky bit, such as /tmp, only the owner of an entry can replace
        // it, and the owner of each entry is checked.
        let isSticky = status.permissions & 0o1000 != 0
        guard status.permissions & 0o002 != 0, !isSticky else { return nil }
        return ReplaceableParent(path: path, reason: .writableByAll(permissions: status.permissions))
    }

    private static func foreignOwner(_ status: FileStatus, _ user: UInt32) -> Reason? {
        guard status.owner != 0, status.owner != user, !isUnmapped(status.owner) else { return nil }
        return .ownedBy(status.owner)
    }

    /// Whether the owner may be any user without a number in this user namespace (user_namespaces(7)). In a sandbox,
    /// root appears as this user.
    private static func isUnmapped(_ owner: UInt32) -> Bool {
        guard owner == overflowUser else { return false }
        guard let map = (try? BoundedFile.read("/proc/self/uid_map", limit: 64 << 10)) ?? nil else {
            // Without /proc: outside a user namespace, root owns "/".
            return (try? FileStatus.ofLink("/"))??.owner == overflowUser
        }
        let fields = String(decoding: map, as: UTF8.self).split { $0 == " " || $0 == "\n" }
        return fields != ["0", "0", "4294967295"]
    }

    // MARK: Paths

    /// Returns the components in reverse order, without empty ones and ".".
    private static func components(_ path: String) -> [Substring] {
        path.split(separator: "/", omittingEmptySubsequences: true).filter { $0 != "." }.reversed()
    }

    /// Returns the target of the symbolic link; nil if `path` is not one.
    private static func linkTarget(_ path: String) throws(SystemError) -> String? {
        // The zeros after the bytes that readlink(2) writes end the text; a target contains no
        // zero.
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        guard readlink(path, &buffer, Int(PATH_MAX)) >= 0 else {
            if errno == EINVAL { return nil }
            throw .last("read the link", path: path)
        }
        let bytes = buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        guard let target = String(validating: bytes, as: UTF8.self) else {
            throw SystemError("read the link", path: path, code: EILSEQ)
        }
        return target
    }

    /// The kernel's limit (path_resolution(7)).
    private static let maxLinks = 40
    /// The default of /proc/sys/kernel/overflowuid.
    private static let overflowUser: UInt32 = 65534
}

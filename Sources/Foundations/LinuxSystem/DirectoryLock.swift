// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A lock of a directory (flock(2)), released with the object, or by the kernel when the process ends. It excludes the
/// threads of a process as well.
public final class DirectoryLock: Sendable {
    private let descriptor: OwnedDescriptor

    /// Who may hold the lock at the same time.
    public enum Kind: Sendable {
        /// All who have asked for this kind.
        case shared
        /// One.
        case exclusive
    }

    /// Waits for the lock.
    ///
    /// - Parameter path: a directory that exists.
    public init(_ path: String, _ kind: Kind) throws(SystemError) {
        descriptor = try Self.open(path)
        guard try Self.lock(descriptor, kind == .shared ? LOCK_SH : LOCK_EX, path) else {
            throw SystemError("lock", path: path, code: EWOULDBLOCK)
        }
    }

    /// Does not wait.
    ///
    /// - Returns: nil if the lock is held in a way that excludes this one.
    public init?(ifFree path: String, _ kind: Kind) throws(SystemError) {
        descriptor = try Self.open(path)
        guard try Self.lock(descriptor, (kind == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB, path) else { return nil }
    }

    private static func open(_ path: String) throws(SystemError) -> OwnedDescriptor {
        try OwnedDescriptor(opening: path, flags: O_RDONLY | O_DIRECTORY)
    }

    /// Returns false if the operation would have to wait, and must not.
    private static func lock(
        _ descriptor: borrowing OwnedDescriptor, _ operation: Int32, _ path: String
    ) throws(SystemError) -> Bool {
        while flock(descriptor.rawValue, operation) != 0 {
            if errno == EWOULDBLOCK { return false }
            guard errno == EINTR else { throw .last("lock", path: path) }
        }
        return true
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
import Glibc

/// A lock file that one process at a time holds until it ends.
public final class HomeLock: Sendable {
    private let descriptor: Int32
    private let process = getpid()

    /// Locks the file, and creates it if it is missing.
    ///
    /// - Returns: nil if another process holds the lock.
    public init?(_ path: String) throws(SystemError) {
        let file = try OwnedDescriptor(opening: path, flags: O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
        guard latchkey_lock_file(file.rawValue, 1) == 0 else {
            guard errno == EAGAIN || errno == EACCES else { throw .last("lock", path: path) }
            return nil
        }
        descriptor = file.release()
    }

    /// Whether a process holds the lock. It does not disturb a process that is about to take it.
    public static func isHeld(_ path: String) throws(SystemError) -> Bool {
        let file: OwnedDescriptor
        do throws(SystemError) {
            file = try OwnedDescriptor(opening: path, flags: O_RDONLY | O_NOFOLLOW)
        } catch {
            guard error.code == ENOENT else { throw error }
            return false
        }
        switch latchkey_is_file_locked(file.rawValue) {
        case 0: return false
        case 1: return true
        default: throw .last("examine the lock", path: path)
        }
    }

    deinit {
        // A child between fork and exec also has the open file. A lock that only the last close(2)
        // releases would outlive this object.
        if getpid() == process { _ = latchkey_unlock_file(descriptor) }
        close(descriptor)
    }
}

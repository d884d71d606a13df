// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
import Glibc

/// A lock file that one process at a time holds until it ends.
public final class HomeLock: Sendable {
    private let descriptor: Int32
    private let process = getpid()

    /// Locks the file, which is created if it is missing.
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

    deinit {
        // A child between fork and exec also has the open file. A lock that only the last close(2)
        // releases would outlive this object.
        if getpid() == process { _ = latchkey_unlock_file(descriptor) }
        close(descriptor)
    }
}

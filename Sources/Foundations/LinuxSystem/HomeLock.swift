// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
import Glibc

/// A file that one process at a time has, for as long as it lives.
public final class HomeLock: Sendable {
    private let descriptor: Int32
    private let process = getpid()

    /// Takes the file, which is made where it is missing.
    ///
    /// - Returns: nil where another process has it.
    public init?(_ path: String) throws(SystemError) {
        let file = try OwnedDescriptor(opening: path, flags: O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
        guard latchkey_lock_file(file.rawValue, 1) == 0 else {
            guard errno == EAGAIN || errno == EACCES else { throw .last("lock", path: path) }
            return nil
        }
        descriptor = file.release()
    }

    deinit {
        // A child that is between fork and exec has the open file as well; a lock that only the last close frees would outlive this one.
        if getpid() == process { _ = latchkey_unlock_file(descriptor) }
        close(descriptor)
    }
}

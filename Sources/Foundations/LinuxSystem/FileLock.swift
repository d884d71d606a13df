// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// A file that one holder at a time has, among all threads and processes. The kernel gives it back when a holder dies.
public final class FileLock: Sendable {
    private let descriptor: Atomic<Int32>

    /// Waits until it is free. The file is made where it is missing, and stays.
    public init(_ path: String) throws(SystemError) {
        let opened = try OwnedDescriptor(opening: path, flags: O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
        // flock(2) belongs to the open file, so that two threads with two descriptors wait for each other as two processes do.
        while flock(opened.rawValue, LOCK_EX) != 0 {
            guard errno == EINTR else { throw .last("lock", path: path) }
        }
        descriptor = Atomic(opened.release())
    }

    /// Gives it back; the second time does nothing.
    public func release() {
        let held = descriptor.exchange(-1, ordering: .acquiringAndReleasing)
        if held >= 0 { close(held) }
    }

    deinit { release() }
}

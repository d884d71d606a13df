// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// A lock file with one holder at a time among all threads and processes. The kernel releases it
/// when the holder's process ends.
///
/// The lock is a record lock; a forked child does not inherit it. Record locks do not exclude threads of the same
/// process, so a semaphore does. Closing any descriptor of the file would release the lock, so no other code may open
/// the file.
public final class FileLock: Sendable {
    private let descriptor: Atomic<Int32>
    private let semaphore: BinarySemaphore

    /// The semaphores of a process, by the paths of their files.
    private static let semaphores = ForkLocal { Semaphores() }

    private final class Semaphores: Sendable {
        private let byPath = SystemMutex<[String: BinarySemaphore]>([:])

        func semaphore(_ path: String) -> BinarySemaphore {
            byPath.withLock { semaphores in
                if let semaphore = semaphores[path] { return semaphore }
                let fresh = BinarySemaphore()
                semaphores[path] = fresh
                return fresh
            }
        }
    }

    /// Waits for the lock. The file is created if it is missing, and is not removed.
    public init(_ path: String) throws(SystemError) {
        let semaphore = Self.semaphores.value.semaphore(path)
        semaphore.acquire()
        do throws(SystemError) {
            let opened = try OwnedDescriptor(opening: path, flags: O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
            var whole = flock()
            whole.l_type = Int16(F_WRLCK)
            whole.l_whence = Int16(SEEK_SET)
            while fcntl(opened.rawValue, F_SETLKW, &whole) != 0 {
                guard errno == EINTR else { throw SystemError.last("lock", path: path) }
            }
            descriptor = Atomic(opened.release())
        } catch {
            semaphore.release()
            throw error
        }
        self.semaphore = semaphore
    }

    /// Releases the lock; a second call does nothing.
    public func release() {
        let held = descriptor.exchange(-1, ordering: .acquiringAndReleasing)
        guard held >= 0 else { return }
        close(held)
        semaphore.release()
    }

    deinit { release() }
}

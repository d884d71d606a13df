// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// A file that one holder at a time has, among all threads and processes. The kernel gives it back when a holder dies.
///
/// The lock is a record lock, which a forked child does not inherit; among the threads of a process, which such locks do not keep apart, a gate
/// stands before it. Closing any descriptor of the file would free it, so that nobody else may open the file.
public final class FileLock: Sendable {
    private let descriptor: Atomic<Int32>
    private let gate: Gate

    /// The gates of a process, by the paths of their files.
    private static let gates = ForkLocal { Gates() }

    private final class Gates: Sendable {
        private let byPath = Mutex<[String: Gate]>([:])

        func gate(_ path: String) -> Gate {
            byPath.withLock { gates in
                if let gate = gates[path] { return gate }
                let fresh = Gate()
                gates[path] = fresh
                return fresh
            }
        }
    }

    /// Waits until it is free. The file is made where it is missing, and stays.
    public init(_ path: String) throws(SystemError) {
        let gate = Self.gates.value.gate(path)
        gate.enter()
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
            gate.release()
            throw error
        }
        self.gate = gate
    }

    /// Gives it back; the second time does nothing.
    public func release() {
        let held = descriptor.exchange(-1, ordering: .acquiringAndReleasing)
        guard held >= 0 else { return }
        close(held)
        gate.release()
    }

    deinit { release() }
}

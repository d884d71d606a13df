// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// A semaphore with one holder at a time among the threads of a process. Unlike a mutex, another
/// thread than the holder may release it.
public final class BinarySemaphore: Sendable {
    private let semaphore: DispatchSemaphore

    /// - Parameter isHeld: whether another thread has to release it first.
    public init(isHeld: Bool = false) { semaphore = DispatchSemaphore(value: isHeld ? 0 : 1) }

    public func acquire() { semaphore.wait() }

    /// Waits at most so many seconds.
    ///
    /// - Returns: whether the semaphore was acquired.
    public func acquire(seconds: Int) -> Bool { semaphore.wait(timeout: .now() + .seconds(seconds)) == .success }

    public func release() { semaphore.signal() }
}

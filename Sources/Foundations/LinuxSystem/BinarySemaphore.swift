// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// One holder at a time among the threads of a process. Unlike a mutex it may be given back by another thread than the one that took it.
public final class BinarySemaphore: Sendable {
    private let semaphore = DispatchSemaphore(value: 1)

    public init() {}

    public func acquire() { semaphore.wait() }
    public func release() { semaphore.signal() }
}

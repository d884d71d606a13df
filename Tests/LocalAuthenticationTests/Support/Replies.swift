// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeychainTesting
import Synchronization

/// The calls of one reply closure.
final class Replies: Sendable {
    struct Reply: Sendable {
        let isSuccess: Bool
        let error: (any Error)?
    }

    private let replies = Mutex<[Reply]>([])

    var all: [Reply] { replies.withLock { $0 } }

    func append(_ isSuccess: Bool, _ error: (any Error)?) {
        replies.withLock { $0.append(Reply(isSuccess: isSuccess, error: error)) }
    }
}

/// A gate that one thread opens and another waits for.
final class DispatchGate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }
    func wait() { semaphore.awaitSignal() }
}

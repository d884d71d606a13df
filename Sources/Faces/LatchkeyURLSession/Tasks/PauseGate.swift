// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// Lets one waiter pass while it is open.
final class PauseGate: Sendable {
    private struct State {
        var isOpen = true
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = SystemMutex(State())

    func close() { state.withLock { $0.isOpen = false } }

    func open() {
        let waiters = state.withLock { state in
            defer { state.waiters = [] }
            state.isOpen = true
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func wait() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiters.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}

/// Limits the bytes that were handed to a delegate's queue and that the delegate has not had.
final class DeliveryWindow: Sendable {
    private static let maxBytes = 4 << 20

    private let count = SystemMutex(0)
    private let gate = PauseGate()

    /// Waits until the delegate has had most of the delivered bytes.
    func wait() async { await gate.wait() }

    /// Ends the wait of a load that delivers nothing more.
    func open() { gate.open() }

    func add(_ bytes: Int) {
        count.withLock { count in
            count += bytes
            if count > Self.maxBytes { gate.close() }
        }
    }

    func remove(_ bytes: Int) {
        let isBelow = count.withLock { count in
            count -= bytes
            return count <= Self.maxBytes
        }
        if isBelow { gate.open() }
    }
}

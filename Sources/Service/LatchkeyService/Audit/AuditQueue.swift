// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import KeychainModel
internal import LinuxSystem

/// The events with lines to write soon, and the wait of the one thread that writes them.
final class AuditQueue: Sendable {
    private struct State {
        var events: [AuditEvent] = []
        /// Whether a thread writes the queue.
        var hasWriter = false
        /// Whether that thread waits for ``changed``: a signal is only sent to a wait.
        var isWaiting = false
        var isClosed = false

        /// Begins a wait for an event; returns false if there is nothing to wait for.
        mutating func startWait() -> Bool {
            isWaiting = events.isEmpty && !isClosed
            return isWaiting
        }

        /// Returns whether a wait has ended now.
        mutating func endWait() -> Bool {
            defer { isWaiting = false }
            return isWaiting
        }
    }

    private let state = SystemMutex(State())
    /// Signalled once for each wait, when the queue is no longer empty or was closed.
    private let changed = DispatchSemaphore(value: 0)

    /// The next step for the caller of ``append(_:at:)``.
    enum Next { case nothing, startWriter, write }

    /// Adds an event; a closed queue drops it.
    ///
    /// - Parameter clock: seconds since 2001; read under the lock, so that the events are in order.
    func append(_ entry: AuditEntry, at clock: () -> Double) -> Next {
        let (next, isSignalled) = state.withLock { state -> (Next, Bool) in
            guard !state.isClosed else { return (.nothing, false) }
            state.events.append(AuditEvent(entry: entry, time: clock()))
            defer { state.hasWriter = true }
            guard state.hasWriter else { return (.startWriter, false) }
            return (state.events.count >= Self.maxCount ? .write : .nothing, state.endWait())
        }
        if isSignalled { changed.signal() }
        return next
    }

    var isEmpty: Bool { state.withLock { $0.events.isEmpty } }

    /// Returns and removes all events.
    func takeAll() -> [AuditEvent] {
        state.withLock { state in
            defer { state.events = [] }
            return state.events
        }
    }

    /// Puts events that could not be written before all others.
    func putBack(_ events: ArraySlice<AuditEvent>) {
        state.withLock { $0.events = events + $0.events }
    }

    /// Drops the events, and ends the thread that writes them.
    func close() {
        let isSignalled = state.withLock { state in
            defer { state = State(isClosed: true) }
            return state.endWait()
        }
        if isSignalled { changed.signal() }
    }

    // MARK: The writing thread

    /// Waits for an event, and then a little longer, because lookups that follow each other closely
    /// are written together.
    ///
    /// - Returns: false if the calling thread must end: the queue was closed, or stayed empty for a
    ///   second.
    func waitForEvents() -> Bool {
        let deadline = DispatchTime.now() + Self.idleTimeout
        while state.withLock({ $0.startWait() }) {
            if changed.wait(timeout: deadline) == .timedOut, !wasSignalled(), writerEnds(unlessFilled: true) {
                return false
            }
        }
        guard !state.withLock({ $0.isClosed }) else { return false }
        usleep(Self.pause)
        return true
    }

    /// Ends a wait that has timed out. A signal that was decided on meanwhile is awaited, so that it
    /// does not end the next wait.
    private func wasSignalled() -> Bool {
        guard state.withLock({ !$0.endWait() }) else { return false }
        changed.wait()
        return true
    }

    /// Records that no thread writes the queue any more.
    ///
    /// - Parameter unlessFilled: whether the thread continues if there are events.
    /// - Returns: whether the thread ends.
    @discardableResult
    func writerEnds(unlessFilled: Bool = false) -> Bool {
        state.withLock { state in
            if unlessFilled, !state.events.isEmpty { return false }
            state.hasWriter = false
            return true
        }
    }

    /// Two milliseconds, in microseconds.
    private static let pause: UInt32 = 2_000
    private static let idleTimeout = DispatchTimeInterval.seconds(1)
    private static let maxCount = 1_000
}

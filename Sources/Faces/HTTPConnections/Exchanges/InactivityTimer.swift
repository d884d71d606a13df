// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Calls a function when nothing has happened for some time. Used on one event loop.
final class InactivityTimer {
    private let limit: TimeAmount
    private let eventLoop: any EventLoop
    private let overdue: () -> Void
    private var last: NIODeadline
    private var scheduled: Scheduled<Void>?

    init(_ limit: TimeAmount, _ eventLoop: any EventLoop, overdue: @escaping () -> Void) {
        (self.limit, self.eventLoop, self.overdue) = (limit, eventLoop, overdue)
        last = .now()
        schedule(after: limit)
    }

    /// Something has happened. Costs a look at the clock.
    func reset() { last = .now() }

    func cancel() {
        scheduled?.cancel()
        scheduled = nil
    }

    private func schedule(after delay: TimeAmount) {
        let reference = NIOLoopBound(self, eventLoop: eventLoop)
        scheduled = eventLoop.scheduleTask(in: delay) { reference.value.check() }
    }

    private func check() {
        guard scheduled != nil else { return }
        let remaining = last + limit - .now()
        if remaining <= .nanoseconds(0) { overdue() }
        // The owner may have cancelled or reset it.
        if scheduled != nil { schedule(after: max(last + limit - .now(), .milliseconds(1))) }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The time limit of a handshake. It does not run while a program is asked. Used on one event loop.
final class HandshakeTimer {
    private let eventLoop: any EventLoop
    private let overdue: () -> Void
    private var remaining: TimeAmount
    private var scheduled: (task: Scheduled<Void>, start: NIODeadline)?
    private var questions = 0
    private var hasEnded = false

    init(_ limit: TimeAmount, _ eventLoop: any EventLoop, overdue: @escaping () -> Void) {
        (remaining, self.eventLoop, self.overdue) = (limit, eventLoop, overdue)
        start()
    }

    func pause() {
        questions += 1
        guard let scheduled else { return }
        scheduled.task.cancel()
        remaining = max(remaining - (.now() - scheduled.start), .nanoseconds(0))
        self.scheduled = nil
    }

    func resume() {
        questions -= 1
        if questions == 0 { start() }
    }

    func end() {
        hasEnded = true
        scheduled?.task.cancel()
        scheduled = nil
    }

    private func start() {
        guard !hasEnded else { return }
        let reference = NIOLoopBound(self, eventLoop: eventLoop)
        let task = eventLoop.scheduleTask(in: remaining) { reference.value.fire() }
        scheduled = (task, .now())
    }

    private func fire() {
        guard !hasEnded, scheduled != nil else { return }
        end()
        overdue()
    }
}

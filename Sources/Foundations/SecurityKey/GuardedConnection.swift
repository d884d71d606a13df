// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// A connection with limits that libfido2 does not have: a deadline, and a check of the content of an answer.
///
/// libfido2 measures its timeout in whole milliseconds between two reports, so that reports in fast
/// sequence never reach it. And it uses as much memory as a device announces (``AnswerCheck``).
final class GuardedConnection: Sendable {
    /// Why libfido2 did not get a report.
    enum Failure: Error {
        /// The deadline has passed.
        case late
        /// The answer was withheld; the text has the reason.
        case rejected(String)
    }

    private struct State {
        var failure: Failure?
        var inspector = AnswerInspector()
    }

    /// The end of the running operation.
    let deadline = Deadline()

    private let connection: any SecurityKeyConnection
    private let state = SystemMutex(State())

    init(_ connection: any SecurityKeyConnection) {
        self.connection = connection
    }

    /// Begins an operation. It ends after the timeout, or after an hour.
    func start(timeout: Duration) {
        deadline.set(.now + min(max(timeout, .zero), .seconds(3600)))
        state.withLock { $0.failure = nil }
    }

    var failure: Failure? { state.withLock { $0.failure } }

    // MARK: Reports

    func write(_ report: [UInt8]) -> Bool {
        state.withLock { $0.inspector.sent(report) }
        return connection.write(report)
    }

    /// Returns the next report; nil if there is none before the deadline, or if it must not reach
    /// libfido2.
    func read() -> [UInt8]? {
        do throws(SecurityKeyError) {
            while let timeout = nextWait() {
                guard let report = try connection.read(timeout: timeout) else { continue }
                return inspected(report)
            }
            return nil
        } catch {
            return nil
        }
    }

    /// Returns how long the connection may wait for a report; nil after the deadline. The wait is
    /// divided, because the deadline can be brought forward meanwhile.
    private func nextWait() -> Duration? {
        let left = deadline.remaining
        guard left > .zero else {
            state.withLock { $0.failure = .late }
            return nil
        }
        return min(left, .milliseconds(100))
    }

    private func inspected(_ report: [UInt8]) -> [UInt8]? {
        state.withLock { state in
            guard let reason = state.inspector.received(report) else { return report }
            state.failure = .rejected(reason)
            return nil
        }
    }
}

/// When an operation ends. A cancellation brings it forward on another thread.
final class Deadline: Sendable {
    private let instant = SystemMutex(SuspendingClock.now)

    func set(_ new: SuspendingClock.Instant) { instant.withLock { $0 = new } }
    func shorten(to earlier: SuspendingClock.Instant) { instant.withLock { $0 = min($0, earlier) } }

    /// The time until the deadline; negative after it.
    var remaining: Duration { instant.withLock { $0 } - SuspendingClock.now }
}

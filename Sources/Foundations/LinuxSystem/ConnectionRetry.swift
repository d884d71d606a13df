// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// Waits between attempts to connect to a server at a socket: for a time that grows, and then until a
/// file appears at the path, as long as no process listens there.
public final class ConnectionRetry: Sendable {
    private let path: String?
    private let milliseconds: Int32
    private let attempts = Atomic(0)

    /// - Parameters:
    ///   - path: of the socket; nil if it is not known, so that every wait ends with its time.
    ///   - milliseconds: the first waits.
    public init(path: String?, milliseconds: Int32) { (self.path, self.milliseconds) = (path, milliseconds) }

    /// Records that the server has answered.
    public func reset() { attempts.store(0, ordering: .relaxed) }

    /// Waits after a failed attempt, or until a signal is raised, and lowers the signal.
    public func wait(or signal: WakeSignal) {
        let count = attempts.add(1, ordering: .relaxed).newValue
        guard count > Self.quickAttempts else { return signal.wait(milliseconds: milliseconds) }
        // The watch begins before the path is looked at, so that no event is missed.
        guard let path, let watch = try? PathWatch(arrivalAt: path), !Socket.isListening(at: path) else {
            return signal.wait(milliseconds: max(Self.pause, milliseconds))
        }
        // A socket without a process is one that will be listened at in a moment, or that a killed
        // process has left.
        let growing = milliseconds.multipliedReportingOverflow(by: 1 << min(count, Self.maxDoublings))
        if !growing.overflow, growing.partialValue < Self.maxPause, access(path, F_OK) == 0 {
            return signal.wait(milliseconds: growing.partialValue)
        }
        watch.wait(or: signal)
        reset()
    }

    private static let quickAttempts = 2
    private static let maxDoublings = 24
    /// Ten seconds, and a minute.
    private static let pause: Int32 = 10_000
    private static let maxPause: Int32 = 60_000
}

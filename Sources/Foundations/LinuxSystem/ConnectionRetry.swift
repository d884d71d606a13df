// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// Waits between attempts to connect to a server at a socket: for short times at first, and then
/// until a file appears at the path, as long as no process listens there.
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

    /// Waits after an attempt that has failed, or until a signal is raised, which is lowered.
    public func wait(or signal: WakeSignal) {
        let count = attempts.add(1, ordering: .relaxed).newValue
        guard count > Self.quickAttempts else { return signal.wait(milliseconds: milliseconds) }
        // The watch begins before the path is looked at, so that no event is missed.
        guard let path, let watch = try? PathWatch(arrivalAt: path), !Socket.isListening(at: path) else {
            return signal.wait(milliseconds: max(Self.pause, milliseconds))
        }
        watch.wait(or: signal)
        // A new socket is listened at a moment later.
        reset()
    }

    private static let quickAttempts = 2
    /// Ten seconds.
    private static let pause: Int32 = 10_000
}

// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The statuses that have arrived for one verification, in their order.
///
/// The thread of the bus adds them; the thread that verifies takes them. Its size is limited: a
/// service that floods it fails the verification.
final class VerificationMailbox: Sendable {
    private let state = SystemMutex(State())
    private let wake: WakeSignal

    private struct State {
        var statuses: ArraySlice<Result<VerificationStatus, FingerprintError>> = []
        /// Why no further status comes.
        var end: FingerprintError?
    }

    init() throws(FingerprintError) {
        do throws(SystemError) {
            wake = try WakeSignal()
        } catch {
            throw .failed(error.description)
        }
    }

    func add(_ name: String, isDone: Bool) {
        let status = Result { () throws(FingerprintError) in
            try VerificationStatus(parsing: name, isDone: isDone)
        }
        state.withLock { state in
            if state.statuses.count < Self.maxCount {
                state.statuses.append(status)
            } else {
                state.end = .failed("more than \(Self.maxCount) statuses at once")
            }
        }
        wake.raise()
    }

    /// Ends the verification after the statuses that wait.
    func end(_ error: FingerprintError) {
        state.withLock { state in if state.end == nil { state.end = error } }
        wake.raise()
    }

    /// Forgets the statuses of an earlier verification.
    func clear() { state.withLock { $0.statuses = [] } }

    /// Waits for the next status.
    ///
    /// A status that has arrived is returned even if the caller has gone since: otherwise a program
    /// that hears of a miss could end its question before the miss is counted.
    ///
    /// - Parameter deadline: by `BootClock.system`, in nanoseconds.
    /// - Returns: nil after the deadline, and when the cancellation was requested.
    func next(until deadline: UInt64, _ cancellation: Cancellation) throws(FingerprintError) -> VerificationStatus? {
        while true {
            let result = state.withLock { $0.statuses.popFirst() ?? $0.end.map { .failure($0) } }
            if let result { return try result.get() }
            let now = BootClock.system.now()
            guard now < deadline, !cancellation.isCancelled else { return nil }
            let milliseconds = min((deadline &- now) / 1_000_000 + 1, Self.pollMilliseconds)
            wake.wait(for: -1, events: 0, milliseconds: Int32(clamping: milliseconds))
        }
    }

    /// A person causes one status a second.
    private static let maxCount = 64
    /// The interval of checks for a cancellation.
    private static let pollMilliseconds: UInt64 = 50
}

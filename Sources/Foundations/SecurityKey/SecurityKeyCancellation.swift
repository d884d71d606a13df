// SPDX-License-Identifier: Apache-2.0

internal import CFido2
internal import Dispatch
internal import LinuxSystem

/// Ends operations of a security key from another thread.
public final class SecurityKeyCancellation: Sendable {
    private struct State {
        var isRequested = false
        /// The device of the running operation.
        var running: Running?
    }

    private let state = SystemMutex(State())

    public init() {}

    /// Ends the operation that uses this object with ``SecurityKeyError/cancelled``, and every later
    /// one before it begins. Returns at once.
    ///
    /// A device that ignores the cancellation is given up after a second.
    public func request() {
        let running = state.withLock { state in
            let isFirst = !state.isRequested
            state.isRequested = true
            return isFirst ? state.running : nil
        }
        guard let running else { return }
        running.deadline.shorten(to: .now + .seconds(1))
        let isRepeated = BackgroundThread.run { self.repeatCancel(running) }
        if !isRepeated { sendCancel(running) }
    }

    public var isRequested: Bool { state.withLock { $0.isRequested } }

    // MARK: The operation

    /// Runs an operation of the device; ``request()`` cancels it.
    ///
    /// - Returns: nil if the cancellation was requested before the operation.
    func run<Result>(
        on device: OpaquePointer, _ deadline: Deadline, _ operation: () -> Result
    ) -> Result? {
        let running = Running(device, deadline)
        let isRequested = state.withLock { state in
            state.running = running
            return state.isRequested
        }
        defer {
            state.withLock { $0.running = nil }
            running.end.signal()
        }
        return isRequested ? nil : operation()
    }

    /// Sends the cancellation until the operation has ended. A device ignores it while it does not
    /// yet wait for the user, so that sending it once is not enough.
    private func repeatCancel(_ running: Running) {
        repeat { sendCancel(running) } while running.end.wait(timeout: .now() + .milliseconds(100)) == .timedOut
    }

    /// Sends the cancellation if the operation is still running: its device is not closed before the
    /// lock is released.
    private func sendCancel(_ running: Running) {
        state.withLock { state in
            guard state.running === running else { return }
            fido_dev_cancel(running.device)
        }
    }

    private final class Running: @unchecked Sendable {  // because the lock ends its use before the device is freed
        let device: OpaquePointer
        let deadline: Deadline
        let end = DispatchSemaphore(value: 0)

        init(_ device: OpaquePointer, _ deadline: Deadline) {
            self.device = device
            self.deadline = deadline
        }
    }
}

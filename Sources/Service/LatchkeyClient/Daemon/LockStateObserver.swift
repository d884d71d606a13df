// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import KeychainModel
internal import LatchkeyOperations
internal import LinuxSystem
internal import Synchronization

/// Notifies an observer of every new state of a daemon's lock, on a separate connection and thread.
final class LockStateObserver: Sendable {
    private let client: DaemonClient
    private let body: @Sendable (LockState) -> Void
    private let loss: (@Sendable () -> Void)?
    private let hasEnded = Atomic(false)
    private let daemonReturn: DaemonReturn
    private let connection = SystemMutex<DaemonConnection?>(nil)
    private let begun = DispatchSemaphore(value: 0)

    /// - Parameter loss: called when the daemon does not tell its state any more; then, and at the
    ///   beginning, the next state is always reported.
    init(
        _ client: DaemonClient, _ body: @escaping @Sendable (LockState) -> Void,
        loss: (@Sendable () -> Void)? = nil
    ) {
        self.client = client
        daemonReturn = client.daemonReturn()
        self.body = body
        self.loss = loss
    }

    /// Starts to watch. Returns when all further changes will be seen, or when the daemon does not
    /// answer.
    func begin() {
        let isRunning = BackgroundThread.run { [self] in
            var last: LockState?
            while !hasEnded.load(ordering: .acquiring) {
                let wasAnswered = watch(&last)
                if let loss {
                    last = nil
                    loss()
                }
                begun.signal()
                // The daemon has ended; after it restarts, its first state shows what was missed.
                guard daemonReturn.wait(wasAnswered: wasAnswered) else { return }
            }
        }
        if isRunning { begun.wait() }
    }

    func end() {
        hasEnded.store(true, ordering: .releasing)
        daemonReturn.end()
        connection.withLock { $0 }?.cancel()
    }

    /// Watches over one connection. The first state is the current one: it is reported only if it
    /// differs from the last known state.
    ///
    /// - Returns: whether the daemon has answered.
    private func watch(_ last: inout LockState?) -> Bool {
        var state = last
        var wasAnswered = false
        _ = try? client.withConnection { (connection) throws(DaemonConnection.Failure) in
            self.connection.withLock { $0 = connection }
            defer { self.connection.withLock { $0 = nil } }
            try connection.exchange(NumberedRequest(number: client.nextNumber(), WatchLock())) {
                (response) throws(KeychainError) in
                guard case .content(let content) = response, let new = content as? LockState,
                    !hasEnded.load(ordering: .acquiring)
                else { return true }
                if let known = state { if known != new { body(new) } } else if loss != nil { body(new) }
                (state, wasAnswered) = (new, true)
                begun.signal()
                return false
            }
        }
        last = state
        return wasAnswered
    }
}

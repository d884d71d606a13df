// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import KeychainModel
internal import LatchkeyOperations
internal import LinuxSystem
internal import Synchronization

/// Notifies an observer of every new state of a daemon's lock, and of its loss, on a separate connection
/// and thread.
final class LockStateObserver: Sendable {
    /// The observer's knowledge of the lock.
    private enum Known: Equatable {
        case nothing
        case state(LockState)
        case lost
    }

    private let client: DaemonClient
    private let body: @Sendable (LockState?) -> Void
    private let reportsFirst: Bool
    private let hasEnded = Atomic(false)
    private let daemonReturn: DaemonReturn
    private let connection = SystemMutex<DaemonConnection?>(nil)
    private let begun = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - reportsFirst: whether the state at the beginning is reported.
    ///   - body: receives each new state, and nil when the daemon does not tell its state any more. The
    ///     state after it is always reported.
    init(_ client: DaemonClient, reportsFirst: Bool, _ body: @escaping @Sendable (LockState?) -> Void) {
        self.client = client
        daemonReturn = client.daemonReturn()
        self.reportsFirst = reportsFirst
        self.body = body
    }

    /// Starts to watch. Returns when all further changes will be seen, or when the loss was reported.
    func begin() {
        let isRunning = BackgroundThread.run { [self] in
            var known = Known.nothing
            while !hasEnded.load(ordering: .acquiring) {
                let wasAnswered = watch(&known)
                if known != .lost, !hasEnded.load(ordering: .acquiring) {
                    known = .lost
                    body(nil)
                }
                begun.signal()
                // The daemon has ended; after it restarts, its first state shows the missed changes.
                guard daemonReturn.wait(wasAnswered: wasAnswered) else { return }
            }
        }
        if isRunning { begun.wait() } else { body(nil) }
    }

    func end() {
        hasEnded.store(true, ordering: .releasing)
        daemonReturn.end()
        connection.withLock { $0 }?.cancel()
    }

    /// Watches over one connection. The first state is the current one.
    ///
    /// - Returns: whether the daemon has answered.
    private func watch(_ known: inout Known) -> Bool {
        var latest = known
        var wasAnswered = false
        _ = try? client.withConnection { (connection) throws(DaemonConnection.Failure) in
            self.connection.withLock { $0 = connection }
            defer { self.connection.withLock { $0 = nil } }
            try connection.exchange(NumberedRequest(number: client.nextNumber(), WatchLock())) {
                (response) throws(KeychainError) in
                guard case .content(let content) = response, let new = content as? LockState,
                    !hasEnded.load(ordering: .acquiring)
                else { return true }
                if latest == .nothing ? reportsFirst : latest != .state(new) { body(new) }
                (latest, wasAnswered) = (.state(new), true)
                begun.signal()
                return false
            }
        }
        known = latest
        return wasAnswered
    }
}

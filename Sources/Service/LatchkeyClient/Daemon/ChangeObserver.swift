// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import KeychainModel
internal import LatchkeyOperations
internal import LinuxSystem

/// Notifies an observer of the changes of a daemon's keychain, on a separate connection and thread.
final class ChangeObserver: Sendable {
    private struct State {
        var connection: DaemonConnection?
        var hasEnded = false
        /// Whether the daemon has confirmed that it reports changes.
        var isWatching = false
        var error: KeychainError?
    }

    private let client: DaemonClient
    private let body: @Sendable (KeychainChangeEvent) -> Void
    private let daemonReturn: DaemonReturn
    private let state = SystemMutex(State())
    private let begun = DispatchSemaphore(value: 0)

    init(_ client: DaemonClient, _ body: @escaping @Sendable (KeychainChangeEvent) -> Void) {
        self.client = client
        daemonReturn = client.daemonReturn()
        self.body = body
    }

    /// Starts to watch. Returns when all further changes will be seen.
    ///
    /// - Throws: the daemon's reason if it does not report changes.
    func begin() throws(KeychainError) {
        let isRunning = BackgroundThread.run { [self] in
            var wasAnswered = watch()
            begun.signal()
            // The daemon has ended; after it restarts, one event stands for the changes that were
            // missed.
            while state.withLock({ $0.isWatching && !$0.hasEnded }) {
                guard daemonReturn.wait(wasAnswered: wasAnswered) else { return }
                wasAnswered = watch()
            }
        }
        guard isRunning else { throw KeychainError(.allocate, "no thread is available to observe changes") }
        begun.wait()
        let error = state.withLock { $0.isWatching ? nil : $0.error ?? .notAvailable }
        if let error { throw error }
    }

    /// Ends the observer.
    ///
    /// - Parameter isTold: whether its body is told so.
    func end(isTold: Bool) {
        let connection = state.withLock { state -> DaemonConnection? in
            state.hasEnded = true
            return state.connection
        }
        connection?.cancel()
        daemonReturn.end()
        if isTold { body(.ended) }
    }

    /// Watches over one connection. The first notice confirms the start.
    ///
    /// - Returns: whether the daemon has answered.
    private func watch() -> Bool {
        var wasAnswered = false
        do throws(KeychainError) {
            try client.withConnection { (connection) throws(DaemonConnection.Failure) in
                let hasEnded = state.withLock { state in
                    state.connection = connection
                    return state.hasEnded
                }
                defer { state.withLock { $0.connection = nil } }
                if hasEnded { return }
                try connection.exchange(NumberedRequest(number: client.nextNumber(), WatchChanges())) {
                    (response) throws(KeychainError) in
                    guard case .content(let content) = response, content is ChangeNotice else { return true }
                    wasAnswered = true
                    receiveNotice()
                    return false
                }
            }
        } catch {
            // A daemon that does not know the request closes the connection as after a malformed one.
            let isUnknown = error.status == .decode
            let reason =
                isUnknown
                ? KeychainError(
                    .notAvailable, "latchkeyd does not report changes; it is older than this program",
                    hint: "restart latchkeyd") : error
            state.withLock { $0.error = reason }
        }
        return wasAnswered
    }

    private func receiveNotice() {
        let (isFirst, hasEnded) = state.withLock { state in
            defer { state.isWatching = true }
            return (!state.isWatching, state.hasEnded)
        }
        if isFirst { begun.signal() } else if !hasEnded { body(.changed) }
    }
}

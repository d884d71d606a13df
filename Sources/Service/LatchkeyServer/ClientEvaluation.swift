// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// The host of an authentication of one client. It is cancelled when the client disconnects, or the server stops.
struct ClientEvaluation: EvaluationHost {
    let cancellation = Cancellation()
    let server: KeychainServer
    let socket: Socket
    let user: UInt32

    func derive<Value: Sendable>(
        _ body: @escaping @Sendable () throws(KeychainError) -> Value
    ) throws(KeychainError) -> Value {
        try server.shared.slowWork.run(
            .derivation, for: user, isAbandoned: { socket.isHungUp || server.isCancelling }, body)
    }

    /// Calls `body` while another thread watches the connection.
    func watching<Value>(_ body: () throws(KeychainError) -> Value) throws(KeychainError) -> Value {
        let end: StopSignal
        do throws(SystemError) {
            end = try StopSignal()
        } catch {
            throw KeychainError(error)
        }
        let isWatching = BackgroundThread.run { [self] in
            if !end.wait(or: server.stopping, orEndOf: socket) { cancellation.request() }
        }
        guard isWatching else {
            throw KeychainError(.notAvailable, "latchkeyd cannot start another thread", hint: "try again")
        }
        defer { end.raise() }
        return try body()
    }
}

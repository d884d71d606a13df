// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyProtocol
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// Sessions: keychains that are opened for one program and its children.
extension RequestHandler {
    /// Opens the keychain a second time, unlocks it, and serves it to the processes that hold the
    /// other end of the socket that the client sends.
    func openSession(
        _ keychain: ServedKeychain, _ passcode: SharedSecret?, _ reply: Reply
    ) throws(KeychainError) -> Response {
        // The permit is acquired before the work, and released when the work fails or the session
        // ends.
        guard let permit = server.sessions.acquire(for: user, timeout: 0) else {
            throw KeychainError(
                .notAvailable, "this user has \(server.limits.sessionsPerUser) sessions, which is the maximum",
                hint: "end one of them")
        }
        let service = try keychain.reopen()
        do throws(KeychainError) {
            if let passcode {
                try slow(.derivation) { () throws(KeychainError) in
                    try service.unlock(passcode, progress: reply.progress)
                }
            }
            guard reply.trySend(.ready) else {
                throw KeychainError(.io, "the client disconnected before its session began")
            }
            let control = try receiveControl()
            let provider = SessionProvider(
                user: user, service: service, knowsPasscode: passcode != nil, audit: keychain.audit,
                home: keychain.home,
                quota: keychain.quota, lease: keychain.lease)
            try start(provider, control, permit)
            return .done
        } catch {
            service.close()
            throw error
        }
    }

    private func receiveControl() throws(KeychainError) -> Socket {
        do throws(SystemError) {
            channel.socket.setTimeouts(receiving: FrameChannel.timeout)
            defer { channel.socket.setTimeouts(receiving: 0) }
            if case .socket(let socket) = try channel.socket.receiveDescriptor() { return socket }
        } catch {
            throw KeychainError(error)
        }
        throw KeychainError(.param, "a session needs a descriptor, and none was received")
    }

    private func start(_ provider: SessionProvider, _ control: Socket, _ permit: ConcurrencyLimiter.Permit)
        throws(KeychainError)
    {
        do throws(SystemError) {
            let session = try KeychainServer(sessionOf: server, provider, permit: permit)
            // Added before the thread starts, because the thread may end immediately.
            connection.addSession(Connection.OpenSession(server: session, control: control))
            let isRunning = BackgroundThread.run { [weak connection] in
                session.serve(descriptorsFrom: control)
                // No further connections can arrive.
                session.stop(timeout: 5)
                connection?.drop(sessionOf: session)
            }
            guard isRunning else {
                connection.drop(sessionOf: session)
                throw SystemError("start a thread", code: EAGAIN)
            }
        } catch {
            throw KeychainError(error)
        }
    }
}

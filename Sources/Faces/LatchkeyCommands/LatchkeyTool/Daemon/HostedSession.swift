// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyServer
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// An unlocked keychain for the children of this process. The daemon serves it if there is one;
/// otherwise this process does.
struct HostedSession {
    /// The socket that the children inherit.
    let control: Socket
    private let hold: any Sendable
    private let server: (server: KeychainServer, control: Socket)?

    /// - Parameter passcode: nil if the keychain has none, and is always unlocked.
    init(of keychain: KeychainSession, passcode: SharedSecret?) throws(KeychainError) {
        let (ownEnd, peerEnd) = try withErrors(as: KeychainError.init(_:)) { () throws(SystemError) in
            try Socket.pair(preservesBoundaries: true)
        }
        control = ownEnd
        guard let service = keychain.service.held else {
            hold = try KeychainClient.openSession(passcode: passcode, control: peerEnd)
            server = nil
            return
        }
        if let passcode { try keychain.unlock(passcode) { _, _ in } }
        let own = ProcessDirectory(getpid()).executable
        let name = try service.status().name
        let started = try withErrors(as: KeychainError.init(_:)) { () throws(SystemError) in
            let server = try KeychainServer(
                SessionProvider(
                    user: geteuid(), name: name, service: service, knowsPasscode: passcode != nil,
                    home: (try? KeychainClient.home()).map { UserKeychains($0).home(of: name) }),
                reader: CallerReader(commands: own.map { [$0] } ?? [], entitlements: nil))
            guard BackgroundThread.run({ server.serve(descriptorsFrom: peerEnd) }) else {
                throw SystemError("start a thread", code: EAGAIN)
            }
            return server
        }
        server = (started, peerEnd)
        hold = started
    }

    /// Ends the session, also for children that are still running.
    func end() {
        guard let server else { return }
        server.control.stop()
        server.server.stop(timeout: 2)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyServer
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// An unlocked keychain for the children of this process: the daemon's, where there is one, else this process serves its own.
struct HostedSession {
    /// What children inherit.
    let control: Socket
    private let hold: any Sendable
    private let server: (server: KeychainServer, control: Socket)?

    /// - Parameter passcode: nil where the keychain has none, and is always open.
    init(of keychain: any KeychainService, passcode: SharedSecret?) throws(KeychainError) {
        let (ownEnd, peerEnd) = try Self.mapSystemErrors { () throws(SystemError) in
            try Socket.pair(preservesBoundaries: true)
        }
        control = ownEnd
        if let opened = try KeychainClient.openSession(of: keychain, passcode: passcode, control: peerEnd) {
            hold = opened
            server = nil
            return
        }
        if let passcode { try keychain.unlock(passcode) { _, _ in } }
        let own = ProcessDirectory(getpid()).executable
        let started = try Self.mapSystemErrors { () throws(SystemError) in
            let server = try KeychainServer(
                SessionProvider(
                    user: geteuid(), service: keychain, knowsPasscode: passcode != nil, home: try? KeychainClient.home()
                ),
                reader: CallerReader(command: own, entitlements: nil))
            guard BackgroundThread.run({ server.serve(descriptorsFrom: peerEnd) }) else {
                throw SystemError("start a thread", code: EAGAIN)
            }
            return server
        }
        server = (started, peerEnd)
        hold = started
    }

    /// Ends the session, also for children that are still there.
    func end() {
        guard let server else { return }
        server.control.stop()
        server.server.stop(timeout: 2)
    }

    private static func mapSystemErrors<Result>(_ body: () throws(SystemError) -> Result) throws(KeychainError)
        -> Result
    {
        do { return try body() } catch { throw KeychainError(error) }
    }
}

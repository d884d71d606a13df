// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LatchkeyService
public import SecretMemory

/// The one keychain of a session: opened for the children of a process, and closed with them.
public final class SessionProvider: KeychainProvider {
    private let user: UInt32
    private let servedKeychain: ServedKeychain
    private let lease: KeychainLease?

    /// - Parameters:
    ///   - user: whose processes are served.
    ///   - knowsPasscode: whether it was opened by the passcode.
    ///   - audit: the log of the daemon that holds the session; it is not closed with it.
    ///   - lease: of the keychain that the session is of, whose home and log it uses.
    public init(
        user: UInt32, service: any KeychainService, knowsPasscode: Bool, audit: AuditLog? = nil, home: KeychainHome?,
        quota: KeychainQuota? = nil, lease: KeychainLease? = nil
    ) {
        self.user = user
        self.lease = lease
        servedKeychain = ServedKeychain(
            service: service, audit: audit, mode: .session, home: home, knowsPasscode: knowsPasscode, quota: quota
        ) {
            () throws(KeychainError) in
            throw .parameter("a session does not open further sessions")
        }
    }

    public func modeAndHome(for user: UInt32) throws(KeychainError) -> (mode: KeychainStatus.Mode, home: KeychainHome?)
    {
        guard user == self.user else {
            throw KeychainError(
                .missingEntitlement, "this session serves user \(self.user), and user \(user) is another one")
        }
        return (.session, servedKeychain.home)
    }

    public func keychain(of user: UInt32) throws(KeychainError) -> ServedKeychain {
        _ = try modeAndHome(for: user)
        return servedKeychain
    }

    public func recover(_ user: UInt32, with key: SharedSecret, newPasscode: SharedSecret?) throws(KeychainError) -> Int
    {
        throw .parameter("a session has nothing to recover; use the recovery key outside of it")
    }

    public func closeIdle() {}

    public func forEachOpen(_ body: (ServedKeychain) -> Void) { body(servedKeychain) }

    public func close() { servedKeychain.service.close() }
}

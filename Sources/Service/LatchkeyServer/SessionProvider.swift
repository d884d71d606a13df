// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LatchkeyService
public import LinuxSystem
internal import SecretMemory

/// The single keychain of a session: opened for the children of a process, and closed when the
/// session ends.
public final class SessionProvider: KeychainProvider {
    private let user: UInt32
    private let name: KeychainName
    private let servedKeychain: ServedKeychain
    private let lease: KeychainLease?
    /// The keychain's directory; nil for one in memory.
    private let directory: FileStatus.Identity?

    /// - Parameters:
    ///   - user: the processes of this user may use the session.
    ///   - name: of the keychain.
    ///   - knowsPasscode: whether the session was opened with the passcode.
    ///   - audit: the audit log of the daemon that holds the session; it is not closed with the
    ///     session.
    ///   - lease: the lease of the keychain that provides the home and audit log of the session.
    public init(
        user: UInt32, name: KeychainName = .login, service: EmbeddedService, knowsPasscode: Bool,
        audit: AuditLog? = nil, home: KeychainHome?,
        account: StorageAccount? = nil, lease: KeychainLease? = nil
    ) {
        self.user = user
        self.name = name
        self.lease = lease
        directory = Self.directory(home)
        servedKeychain = ServedKeychain(
            service: service, audit: audit, mode: .session, home: home, knowsPasscode: knowsPasscode, account: account
        ) {
            () throws(KeychainError) in
            throw .parameter("a session cannot open further sessions")
        }
    }

    public func modeAndHome(
        for keychain: UserKeychain
    ) throws(KeychainError) -> (mode: KeychainStatus.Mode, home: KeychainHome?) {
        try requireUser(keychain.user)
        return (.session, servedKeychain.home)
    }

    private func requireUser(_ user: UInt32) throws(KeychainError) {
        guard user == self.user else {
            throw KeychainError(
                .missingEntitlement, "this session serves user \(self.user), and user \(user) is a different one")
        }
    }

    public func open(_ keychain: UserKeychain) throws(KeychainError) -> ServedKeychain {
        try requireUser(keychain.user)
        guard keychain.name == name else {
            throw KeychainError(
                .noSuchKeychain, "this session is of the keychain '\(name)', not of '\(keychain.name)'")
        }
        return try existing()
    }

    /// The search list of a session is its one keychain.
    public func openSearchList(of user: UInt32) throws(KeychainError) -> ServedKeychain {
        try requireUser(user)
        return try existing()
    }

    /// The keychain, unless it was deleted: its files would still be open here.
    private func existing() throws(KeychainError) -> ServedKeychain {
        guard directory == nil || Self.directory(servedKeychain.home) == directory else {
            throw UserKeychains.missing(name)
        }
        return servedKeychain
    }

    private static func directory(_ home: KeychainHome?) -> FileStatus.Identity? {
        home.flatMap { try? FileStatus.of($0.dataDirectory) }?.identity
    }

    public func defaultKeychain(of user: UInt32) throws(KeychainError) -> KeychainName { name }

    public func registry(of user: UInt32) throws(KeychainError) -> any KeychainRegistry {
        try requireUser(user)
        let list = try KeychainList(searching: [name], defaultKeychain: name)
        let path = servedKeychain.home?.path ?? KeychainPlace.ephemeralPath
        return SingleKeychain(KeychainOverview(places: [KeychainPlace(name, path: path)], list: list), of: "a session")
    }

    public func rescue(of keychain: UserKeychain) -> any KeychainRescue { SessionRescue() }

    public func closeIdle() -> UInt64? { nil }

    public func openKeychains(of user: UInt32) -> [ServedKeychain] { user == self.user ? [servedKeychain] : [] }

    public func forEachOpen(_ body: (ServedKeychain) -> Void) { body(servedKeychain) }

    public func close() { servedKeychain.service.close() }
}

/// A session has nothing that could be rescued: its keychain is open outside of it.
private struct SessionRescue: KeychainRescue {
    func recover(with key: SharedSecret, newPasscode: SharedSecret?) throws(KeychainError) -> Int {
        throw .parameter("a session cannot be recovered; use the recovery key outside of it")
    }

    func resealRoot(with code: SharedSecret) throws(KeychainError) {
        throw .parameter("a session has no device key of its own; use the code outside of it")
    }

    func diagnose(_ problem: KeychainError) throws(KeychainError) -> [KeychainFinding] { throw problem }
}

// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LatchkeyService
public import LinuxSystem

/// A keychain that a server serves: the service, its audit log, and what clients are told about it.
public struct ServedKeychain: Sendable {
    public private(set) var service: any HostedKeychain
    /// The keychains of a search list; empty for a single keychain.
    private var members: [KeychainName: ServedKeychain] = [:]
    /// nil if there is no audit log.
    public let audit: AuditLog?
    public let mode: KeychainStatus.Mode
    /// The directories of the keychain; nil for a keychain in memory.
    public let home: KeychainHome?
    /// Whether the clients have proven that they know the passcode.
    public let knowsPasscode: Bool
    /// What the user may keep on the disk; nil for no limit.
    public let account: StorageAccount?
    /// Opens the same files a second time, for a session.
    public let reopen: @Sendable () throws(KeychainError) -> any HostedKeychain
    /// Keeps the keychain open; nil if the keychain is never closed as idle.
    public private(set) var lease: KeychainLease?

    public init(
        service: any HostedKeychain, audit: AuditLog? = nil, mode: KeychainStatus.Mode, home: KeychainHome?,
        knowsPasscode: Bool = false, account: StorageAccount? = nil,
        reopen: @escaping @Sendable () throws(KeychainError) -> any HostedKeychain
    ) {
        self.service = service
        self.audit = audit
        self.mode = mode
        self.home = home
        self.knowsPasscode = knowsPasscode
        self.account = account
        self.reopen = reopen
    }

    /// Serves the keychains of a search list as one.
    ///
    /// - Parameter members: the keychains that are open, each one once; they stay open as long as this
    ///   value.
    init(
        searching keychains: SearchedKeychains, members: [KeychainName: ServedKeychain], defaultKeychain: ServedKeychain
    ) {
        self = defaultKeychain
        service = keychains
        self.members = members
        lease = KeychainLease { withExtendedLifetime(members) {} }
    }

    /// The audit logs in which a request may be recorded.
    var possibleLogs: [AuditLog] { members.isEmpty ? [audit].compactMap { $0 } : members.values.compactMap(\.audit) }

    /// The audit logs of what a request has used.
    var usedLogs: [AuditLog] {
        guard let searched = service as? SearchedKeychains else { return possibleLogs }
        let used = members.filter { searched.used.contains($0.key) }.values.compactMap(\.audit)
        // What found nothing anywhere was asked of the default keychain.
        return used.isEmpty ? [audit].compactMap { $0 } : used
    }

    func leased(_ lease: KeychainLease) -> ServedKeychain {
        var copy = self
        copy.lease = lease
        return copy
    }

    func close() {
        audit?.close()
        service.close()
    }
}

/// Provides the keychain of each user.
public protocol KeychainProvider: Sendable {
    /// Whether the daemon ends when nothing is unlocked.
    var endsWhenIdle: Bool { get }

    /// Decides whether connections of this user are accepted, before they are registered: a refused
    /// connection does not count toward any limit.
    ///
    /// - Throws: errSecMissingEntitlement if they are not.
    func requireAllowedUser(of user: UInt32) throws(KeychainError)

    /// Returns what a client of this user is told before a keychain is opened.
    ///
    /// - Throws: errSecMissingEntitlement if this user has no keychain here.
    func modeAndHome(
        for keychain: UserKeychain
    ) throws(KeychainError) -> (mode: KeychainStatus.Mode, home: KeychainHome?)

    /// Returns a keychain, and opens it if necessary.
    ///
    /// - Throws: errSecNotAvailable if it cannot be opened, or if the maximum number of keychains
    ///   is in use; errSecNoSuchKeychain for a name that does not exist.
    func open(_ keychain: UserKeychain) throws(KeychainError) -> ServedKeychain

    /// Returns the keychains that the user's search list names, as one.
    ///
    /// - Throws: errSecNotAvailable if the default keychain cannot be opened.
    func openSearchList(of user: UInt32) throws(KeychainError) -> ServedKeychain

    /// Returns the name of the user's default keychain.
    func defaultKeychain(of user: UInt32) throws(KeychainError) -> KeychainName

    /// Returns the user's keychains, to manage them.
    func registry(of user: UInt32) throws(KeychainError) -> any KeychainRegistry

    /// What can be done with a user's keychain even if it cannot be opened.
    func rescue(of keychain: UserKeychain) -> any KeychainRescue

    /// Closes keychains that were idle for long, if nothing is lost by that.
    ///
    /// - Returns: when the next one will have been (`BootClock`); nil if there is none.
    @discardableResult
    func closeIdle() -> UInt64?

    /// Calls `body` whenever a keychain that is opened from now on is locked.
    func observeLocks(_ body: @escaping @Sendable () -> Void)

    /// Returns the keychains of a user that are open.
    func openKeychains(of user: UInt32) -> [ServedKeychain]

    /// Calls `body` with every open keychain.
    func forEachOpen(_ body: (ServedKeychain) -> Void)

    /// Closes all open keychains.
    func close()
}

extension KeychainProvider {
    public var endsWhenIdle: Bool { false }

    public func observeLocks(_ body: @escaping @Sendable () -> Void) {}

    /// Accepts connections of every user; a user without a keychain gets an error in response to
    /// the hello.
    public func requireAllowedUser(of user: UInt32) throws(KeychainError) {}

    /// Returns the keychain that every user has.
    public func keychain(of user: UInt32) throws(KeychainError) -> ServedKeychain { try open(UserKeychain(user)) }

    public func rescue(of user: UInt32) -> any KeychainRescue { rescue(of: UserKeychain(user)) }
}

// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LatchkeyService
public import LinuxSystem

/// A keychain that a server serves: the service, its audit log, and the facts that clients are told about it.
public struct ServedKeychain: Sendable {
    public let service: EmbeddedService
    /// nil for a single keychain.
    private(set) var list: SearchList?
    /// nil if there is no audit log.
    public let audit: AuditLog?
    public let mode: KeychainStatus.Mode
    /// The directories of the keychain; nil for a keychain in memory.
    public let home: KeychainHome?
    /// Whether the clients have proven that they know the passcode.
    public let knowsPasscode: Bool
    /// The account of the user's disk space; nil for no limit.
    public let account: StorageAccount?
    /// Opens the same files a second time, for a session.
    public let reopen: @Sendable () throws(KeychainError) -> EmbeddedService
    /// Keeps the keychain open; nil if the keychain is never closed as idle.
    public private(set) var lease: KeychainLease?

    public init(
        service: EmbeddedService, audit: AuditLog? = nil, mode: KeychainStatus.Mode, home: KeychainHome?,
        knowsPasscode: Bool = false, account: StorageAccount? = nil,
        reopen: @escaping @Sendable () throws(KeychainError) -> EmbeddedService
    ) {
        self.service = service
        self.audit = audit
        self.mode = mode
        self.home = home
        self.knowsPasscode = knowsPasscode
        self.account = account
        self.reopen = reopen
    }

    /// Serves the keychains of a search list; requests about a whole keychain concern the default one.
    ///
    /// - Throws: why the default keychain could not be opened.
    init(_ list: SearchList) throws(KeychainError) {
        self = try (list.members[list.defaultKeychain] ?? .failure(.itemNotFound)).get()
        self.list = list
        lease = KeychainLease { withExtendedLifetime(list) {} }
    }

    /// The audit logs that may record a request.
    var possibleLogs: [AuditLog] { logs { _ in true } }

    /// The audit logs of the keychains that a request has used.
    func logs(ofUsed used: Set<KeychainName>) -> [AuditLog] {
        let logs = logs { used.contains($0) }
        // A request that found nothing in any keychain counts for the default one.
        return logs.isEmpty ? [audit].compactMap { $0 } : logs
    }

    private func logs(_ isIncluded: (KeychainName) -> Bool) -> [AuditLog] {
        guard let list else { return [audit].compactMap { $0 } }
        return list.members.compactMap { isIncluded($0.key) ? (try? $0.value.get())?.audit : nil }
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

/// The keychains of a user's search list.
struct SearchList: Sendable {
    /// Each keychain that is named below, and the one that every user has: opened, or why not. They stay open
    /// as long as this value.
    let members: [KeychainName: Result<ServedKeychain, KeychainError>]
    let search: [KeychainName]
    let defaultKeychain: KeychainName
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

    /// Returns the mode and the home that a client of this user is told before a keychain is opened.
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

    /// Returns the operations on a user's keychain that work even if it cannot be opened.
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

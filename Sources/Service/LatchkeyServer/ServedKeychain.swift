// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LatchkeyService
public import SecretMemory

/// A keychain that a server serves: the service itself, its log, and what clients are told of it.
public struct ServedKeychain: Sendable {
    public let service: any KeychainService
    /// nil where nothing is written down.
    public let audit: AuditLog?
    public let mode: KeychainStatus.Mode
    /// Where the keychain lies; nil in memory.
    public let home: KeychainHome?
    /// Whether those it is served to have shown that they know the passcode.
    public let knowsPasscode: Bool
    /// How large it may become; nil for no limit.
    public let quota: KeychainQuota?
    /// Opens the same files once more, for a session of its own.
    public let reopen: @Sendable () throws(KeychainError) -> any KeychainService
    /// Keeps the keychain open; nil where it is not closed while it is idle.
    public private(set) var lease: KeychainLease?

    public init(
        service: any KeychainService, audit: AuditLog? = nil, mode: KeychainStatus.Mode, home: KeychainHome?,
        knowsPasscode: Bool = false, quota: KeychainQuota? = nil,
        reopen: @escaping @Sendable () throws(KeychainError) -> any KeychainService
    ) {
        self.service = service
        self.audit = audit
        self.mode = mode
        self.home = home
        self.knowsPasscode = knowsPasscode
        self.quota = quota
        self.reopen = reopen
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

/// Which keychain a user's programs get.
public protocol KeychainProvider: Sendable {
    /// Decides whether connections of this user are taken at all, before they take anything of the server's.
    ///
    /// - Throws: errSecMissingEntitlement where they are not.
    func requireAllowedUser(of user: UInt32) throws(KeychainError)

    /// What a client of this user is told before anything is opened.
    ///
    /// - Throws: errSecMissingEntitlement where this user is not served at all.
    func modeAndHome(for user: UInt32) throws(KeychainError) -> (mode: KeychainStatus.Mode, home: KeychainHome?)

    /// The user's keychain, opened when it is asked for.
    ///
    /// - Throws: errSecNotAvailable where it cannot be opened, or as many are in use as this provider keeps.
    func keychain(of user: UInt32) throws(KeychainError) -> ServedKeychain

    /// Opens a user's keychain by its recovery key, also where it cannot be opened otherwise, and sets a new passcode.
    ///
    /// - Parameter newPasscode: nil only counts what would be lost.
    /// - Returns: how many items are lost with keys that could not leave the device.
    func recover(_ user: UInt32, with key: SharedSecret, newPasscode: SharedSecret?) throws(KeychainError) -> Int

    /// Closes what was not used for long, as far as nothing is lost by it.
    func closeIdle()

    /// Passes something on to every keychain that is open.
    func forEachOpen(_ body: (ServedKeychain) -> Void)

    /// Closes what is open.
    func close()
}

extension KeychainProvider {
    /// Takes connections of every user; who has no keychain is told so in answer to the hello.
    public func requireAllowedUser(of user: UInt32) throws(KeychainError) {}
}

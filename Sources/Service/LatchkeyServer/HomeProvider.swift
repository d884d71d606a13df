// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LatchkeyService
internal import LinuxSystem
public import SecretMemory

/// How many keychains a system daemon keeps open. Each takes a few descriptors and about 300 KiB.
public struct OpenKeychains: Sendable {
    /// Above this number, keychains that are not in use are closed; the one that was idle for
    /// longest is closed first.
    public var idleCount: Int
    /// The maximum number of open keychains. No other keychain is opened if all of these are in use
    /// or unlocked.
    public var count: Int
    /// How long a keychain is idle before it is closed, in seconds.
    public var idleSeconds: Int

    public init(idleCount: Int = 64, count: Int = 4096, idleSeconds: Int = 300) {
        self.idleCount = idleCount
        self.count = count
        self.idleSeconds = idleSeconds
    }
}

/// The keychains of homes in the file system: of one user, or of all users of the machine. Each
/// keychain is opened on first use.
public final class HomeProvider: KeychainProvider {
    private let mode: KeychainStatus.Mode
    private let home: @Sendable (UInt32) -> KeychainHome?
    let clocks: Clocks
    private let limits: AuditLog.Limits
    private let quota: KeychainQuota?
    private let allowsAlwaysOpen: Bool
    private let automaticPasscode: AutomaticUnlock.Source
    private let presence: PresenceSources
    let hardware: SecureHardware
    private let openLimits: OpenKeychains
    private let subordinates: SubordinateUsers?
    /// Whether homes belong to the daemon only while it runs.
    private let ownsWhileRunning: Bool
    private let lists = SystemMutex<[UInt32: KeychainListCache]>([:])
    private let accounts = SystemMutex<[UInt32: AccountReference]>([:])
    private let slots = SystemMutex<[UserKeychain: KeychainSlot]>([:])
    private let whenLocked = SystemMutex<(@Sendable () -> Void)?>(nil)

    /// The keychain of one user, for this user only.
    ///
    /// - Parameters:
    ///   - presence: how the user can be asked.
    ///   - hardware: the hardware that holds keys outside of the daemon's memory.
    ///   - ownsWhileRunning: whether the keychains belong to the daemon only while it runs.
    ///   - automaticPasscode: the passcode that the daemon was started with, if any.
    public convenience init(
        user: UInt32, home: KeychainHome, clocks: Clocks = .system, limits: AuditLog.Limits = AuditLog.Limits(),
        presence: PresenceSources = PresenceSources(), hardware: SecureHardware = SecureHardware(),
        ownsWhileRunning: Bool = false,
        automaticPasscode: @escaping AutomaticUnlock.Source = { () throws(KeychainError) in nil }
    ) {
        self.init(
            mode: .user, clocks: clocks, limits: limits, quota: nil, allowsAlwaysOpen: true,
            open: OpenKeychains(), subordinates: nil, presence: presence, hardware: hardware,
            ownsWhileRunning: ownsWhileRunning, automaticPasscode: automaticPasscode
        ) { $0 == user ? home : nil }
    }

    /// A keychain for each user, in the directory `users` under the daemon's own.
    ///
    /// - Parameters:
    ///   - quota: of each user; nil for no limit.
    ///   - allowsAlwaysOpen: whether new items may have the class `dk` or `dku`.
    ///   - open: how many keychains stay open.
    ///   - subordinates: the user ids that are refused; nil to refuse none.
    ///   - presence: how the users can be asked.
    ///   - hardware: the hardware that holds keys outside of the daemon's memory.
    public convenience init(
        stateDirectory: String, clocks: Clocks = .system, limits: AuditLog.Limits = AuditLog.Limits(),
        quota: KeychainQuota? = nil, allowsAlwaysOpen: Bool = true,
        open: OpenKeychains = OpenKeychains(), subordinates: SubordinateUsers? = nil,
        presence: PresenceSources = PresenceSources(), hardware: SecureHardware = SecureHardware()
    ) {
        self.init(
            mode: .system, clocks: clocks, limits: limits, quota: quota, allowsAlwaysOpen: allowsAlwaysOpen, open: open,
            subordinates: subordinates, presence: presence, hardware: hardware,
            automaticPasscode: { () throws(KeychainError) in nil }
        ) { user in
            // All users without a mapping share the overflow user id (user_namespaces(7)).
            Self.overflowUsers.contains(user) ? nil : KeychainHome(root: "\(stateDirectory)/users/\(user)")
        }
    }

    private init(
        mode: KeychainStatus.Mode, clocks: Clocks, limits: AuditLog.Limits, quota: KeychainQuota?,
        allowsAlwaysOpen: Bool, open: OpenKeychains, subordinates: SubordinateUsers?, presence: PresenceSources,
        hardware: SecureHardware, ownsWhileRunning: Bool = false,
        automaticPasscode: @escaping AutomaticUnlock.Source,
        home: @escaping @Sendable (UInt32) -> KeychainHome?
    ) {
        self.mode = mode
        self.home = home
        self.clocks = clocks
        self.limits = limits
        self.quota = quota
        self.allowsAlwaysOpen = allowsAlwaysOpen
        openLimits = open
        self.subordinates = subordinates
        self.presence = presence
        self.hardware = hardware
        self.ownsWhileRunning = ownsWhileRunning
        self.automaticPasscode = automaticPasscode
    }

    /// Acquires the ownership of a user's home before the first request.
    ///
    /// - Throws: errSecNotAvailable if another daemon owns it.
    public func acquire(homeOf user: UInt32) throws(KeychainError) {
        let home = try home(of: UserKeychain(user))
        _ = try slot(of: UserKeychain(user)).ownership { () throws(KeychainError) in try acquire(home) }
    }

    public var endsWhenIdle: Bool { ownsWhileRunning }

    private func acquire(_ home: KeychainHome) throws(KeychainError) -> HomeOwnership {
        try HomeOwnership.acquire(home, whileRunning: ownsWhileRunning)
    }

    public func requireAllowedUser(of user: UInt32) throws(KeychainError) { try subordinates?.refuse(user) }

    public func modeAndHome(
        for keychain: UserKeychain
    ) throws(KeychainError) -> (mode: KeychainStatus.Mode, home: KeychainHome?) {
        (mode, try home(of: keychain))
    }

    public func open(_ keychain: UserKeychain) throws(KeychainError) -> ServedKeychain {
        _ = try home(of: keychain)
        // A user waits only for their own keychain to be opened.
        let slot = slot(of: keychain)
        if slot.opened == nil { try closeExcessKeychains() }
        // The keychain may have been deleted while the slot was waited for.
        return try slot.keychain { (ownership) throws(KeychainError) in
            try open(try home(of: keychain), keychain, ownership)
        } acquire: { () throws(KeychainError) in
            try acquire(try home(of: keychain))
        }
    }

    // MARK: The search list

    public func openSearchList(of user: UInt32) throws(KeychainError) -> ServedKeychain {
        let list = try list(of: user)
        guard !list.isInitial else { return try open(UserKeychain(user)) }
        var opened: [KeychainName: Result<ServedKeychain, KeychainError>] = [:]
        for name in Set(list.search + [list.defaultKeychain, .login]) {
            opened[name] = Result { () throws(KeychainError) in try open(UserKeychain(user, name)) }
        }
        return try ServedKeychain(
            SearchList(members: opened, search: list.search, defaultKeychain: list.defaultKeychain))
    }

    public func defaultKeychain(of user: UInt32) throws(KeychainError) -> KeychainName {
        try list(of: user).defaultKeychain
    }

    private func list(of user: UInt32) throws(KeychainError) -> KeychainList {
        let home = try loginHome(of: user)
        let cache = lists.withLock { lists in
            if let cache = lists[user] { return cache }
            let fresh = KeychainListCache(UserKeychains(home))
            lists[user] = fresh
            return fresh
        }
        return try cache.list()
    }

    public func registry(of user: UInt32) throws(KeychainError) -> any KeychainRegistry {
        HomeRegistry(provider: self, user: user, files: UserKeychains(try loginHome(of: user)))
    }

    /// Creates the content of the home of a new keychain.
    func make(_ home: KeychainHome, _ passcode: SharedSecret?, of user: UInt32) throws(KeychainError) {
        try UserKeychains.make(home, passcode, clocks: clocks, account: account(of: user))
    }

    /// Returns the account of a user's disk space, for all keychains together; nil for no limit. The objects that use
    /// the account keep it: it ends with the last open keychain of the user.
    func account(of user: UInt32) throws(KeychainError) -> StorageAccount? {
        guard let quota else { return nil }
        if let known = accounts.withLock({ $0[user]?.account }) { return known }
        let keychains = UserKeychains(try loginHome(of: user))
        let fresh = try keychains.account(quota)
        return accounts.withLock { accounts in
            // Another thread may have been faster, and something is charged to its account already.
            if let known = accounts[user]?.account { return known }
            accounts = accounts.filter { $0.value.account != nil }
            accounts[user] = AccountReference(account: fresh)
            return fresh
        }
    }

    /// The number of accounts in memory; for tests.
    var accountCount: Int { accounts.withLock { $0.values.count { $0.account != nil } } }

    private struct AccountReference {
        weak var account: StorageAccount?
    }

    /// Runs `body` to create or delete a keychain, while no request can open it.
    func replacing(_ keychain: UserKeychain, _ body: () throws(KeychainError) -> Void) throws(KeychainError) {
        try slot(of: keychain).replacing(body)
        slots.withLock { $0[keychain] = nil }
    }

    // MARK: Idle keychains

    @discardableResult
    public func closeIdle() -> UInt64? {
        // A user's own daemon has one keychain, and keeps the ownership of the home.
        guard mode == .system else { return nil }
        let now = BootClock.system.now()
        let pause = UInt64(openLimits.idleSeconds) * 1_000_000_000
        let slots = idleSlots()
        // One that cannot be closed now is looked at again after its next use.
        for slot in slots where now >= slot.since + pause { _ = slot.slot.closeIfIdle() }
        return slots.first { now < $0.since + pause }.map { $0.since + pause }
    }

    public func observeLocks(_ body: @escaping @Sendable () -> Void) { whenLocked.withLock { $0 = body } }

    /// Closes the keychains that were idle for longest if too many are open.
    private func closeExcessKeychains() throws(KeychainError) {
        guard mode == .system else { return }
        let count = openCount
        guard count >= openLimits.idleCount else { return }
        var excess = count - openLimits.idleCount + 1
        for slot in idleSlots() where excess > 0 {
            if slot.slot.closeIfIdle() { excess -= 1 }
        }
        guard openCount < openLimits.count else {
            throw KeychainError(
                .notAvailable,
                "\(openLimits.count) keychains are open, the maximum of latchkeyd, and none of them can be closed",
                hint: "try again later, or ask the administrator to raise the service's limit of open files")
        }
    }

    /// The keychains that are not in use, with the start of their idle time; the longest idle one
    /// is first.
    private func idleSlots() -> [(slot: KeychainSlot, since: UInt64)] {
        slots.withLock { Array($0.values) }.compactMap { slot in slot.idleSince.map { (slot, $0) } }.sorted {
            $0.1 < $1.1
        }
    }

    /// The number of open keychains.
    var openCount: Int { slots.withLock { Array($0.values) }.count { $0.opened != nil } }

    /// Whether this daemon owns the user's home.
    func holdsHome(of user: UInt32) -> Bool { slot(of: UserKeychain(user)).holdsHome }

    /// Whether a keychain is unlocked with its passcode. One that was locked again does not count, even
    /// though its items of the class after-first-unlock can still be read.
    public var holdsUnlockedKeychain: Bool {
        slots.withLock { Array($0.values) }.compactMap { $0.opened }.contains { keychain in
            guard let status = try? keychain.service.lock.status() else { return false }
            return status.hasPasscode && status.state == .unlocked
        }
    }

    // MARK: Slots

    private func slot(of keychain: UserKeychain) -> KeychainSlot {
        slots.withLock { slots in
            if let slot = slots[keychain] { return slot }
            let fresh = KeychainSlot()
            slots[keychain] = fresh
            return fresh
        }
    }

    public func rescue(of keychain: UserKeychain) -> any KeychainRescue {
        HomeRescue(provider: self, keychain: keychain)
    }

    /// Runs `body` while no request can open the user's keychain between its steps.
    ///
    /// - Parameter body: gets the home, its lock, and a function that closes the keychain and runs a
    ///   step before it is opened again.
    func rescuing<Result>(
        _ keychain: UserKeychain, _ body: (KeychainHome, HomeOwnership, KeychainSlot) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        let home = try home(of: keychain)
        let slot = slot(of: keychain)
        // The lease is needed because another request may open the keychain between the two steps
        // of a recovery, and leave it idle.
        let (ownership, lease) = try slot.leasedOwnership { () throws(KeychainError) in
            try acquire(try self.home(of: keychain))
        }
        defer { withExtendedLifetime(lease) {} }
        return try body(home, ownership, slot)
    }

    public func openKeychains(of user: UInt32) -> [ServedKeychain] {
        slots.withLock { $0.filter { $0.key.user == user }.map(\.value) }.compactMap { $0.lease() }
    }

    public func forEachOpen(_ body: (ServedKeychain) -> Void) {
        for slot in slots.withLock({ Array($0.values) }) { slot.lease().map(body) }
    }

    public func close() {
        forEachOpen { $0.close() }
        slots.withLock { $0 = [:] }
    }

    /// - Throws: errSecNoSuchKeychain for a name that does not exist.
    private func home(of keychain: UserKeychain) throws(KeychainError) -> KeychainHome {
        let keychains = UserKeychains(try loginHome(of: keychain.user))
        guard try keychains.contains(keychain.name) else { throw UserKeychains.missing(keychain.name) }
        return keychains.home(of: keychain.name)
    }

    private func loginHome(of user: UInt32) throws(KeychainError) -> KeychainHome {
        guard let home = home(user) else {
            guard mode == .system else {
                throw KeychainError(
                    .missingEntitlement, "this latchkeyd serves a single user, and user \(user) is a different one")
            }
            throw KeychainError(
                .missingEntitlement,
                "user \(user) is the overflow user id that several users share, and has no keychain",
                hint: "run the program as a separate user")
        }
        return home
    }

    private static let overflowUsers: Set<UInt32> = [65534, 65535, .max]

    private func open(
        _ home: KeychainHome, _ keychain: UserKeychain, _ ownership: HomeOwnership
    ) throws(KeychainError) -> ServedKeychain {
        let user = keychain.user
        let account = try account(of: user)
        let login = UserKeychains(try loginHome(of: user))
        var limits = self.limits
        if let account { limits = limits.atMost(login.auditShare(of: home, in: account)) }
        // The passcode that the daemon was started with is that of the keychain that every user has.
        let none: AutomaticUnlock.Source = { () throws(KeychainError) in nil }
        let automaticPasscode = keychain.name == .login ? automaticPasscode : none
        let service = try EmbeddedService(
            home: home, clocks: clocks, ownership: ownership, account: account, user: user,
            presence: presence, hardware: hardware, allowsAlwaysOpen: allowsAlwaysOpen,
            automaticPasscode: automaticPasscode)
        _ = service.addLockObserver { [weak self] state in
            if state != .unlocked { self?.whenLocked.withLock { $0 }?() }
        }
        let (clocks, allowsAlwaysOpen) = (clocks, allowsAlwaysOpen)
        let (presence, hardware) = (presence, hardware)
        return ServedKeychain(
            service: service, audit: try service.openAuditLog(limits: limits), mode: mode, home: home, account: account
        ) {
            () throws(KeychainError) in
            try EmbeddedService(
                home: home, clocks: clocks, ownership: ownership, account: account, user: user,
                presence: presence, hardware: hardware, allowsAlwaysOpen: allowsAlwaysOpen)
        }
    }
}

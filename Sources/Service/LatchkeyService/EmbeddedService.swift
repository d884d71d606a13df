// SPDX-License-Identifier: Apache-2.0

public import Glibc
internal import Keybag
public import KeychainModel
internal import KeychainStore
internal import KeyServices
public import LinuxSystem

/// The keychain in the calling process: in the user's files, or in memory. Each part has the calls on one topic; the
/// calls on the whole keychain are here.
public final class EmbeddedService: Sendable {
    public let items: KeychainItems
    public let identities: KeychainIdentities
    public let keys: KeychainKeys
    public let contexts: KeychainContexts
    public let lock: KeychainLock
    public let securityKeys: KeychainSecurityKeys
    public let fileKeys: KeychainFileKeys
    public let files: KeychainFiles
    public let backups: KeychainBackups
    public let copies: KeychainCopies
    public let root: KeychainRoot
    let keychain: OpenKeychain
    private let enclaves: Enclaves
    private let sweep: FileSweep
    /// nil if this process owns the home as the daemon, or if the keychain is in memory.
    private let ownershipMonitor: HomeOwnershipMonitor?

    /// Opens the keychain under `home`, and creates it if it does not exist.
    ///
    /// - Parameters:
    ///   - clocks: the wall clock, the boot clock and the cost of a passcode.
    ///   - ownership: the daemon's lock on the home; without it, a home that belongs to a daemon is
    ///     refused.
    ///   - account: the account of the user's storage on the disk; nil for no limit.
    ///   - user: the owner of the keychain. This user is asked.
    ///   - presence: how the user can be asked.
    ///   - hardware: the devices that hold keys outside of this process's memory.
    ///   - allowsAlwaysOpen: whether new items may have the class `dk` or `dku`.
    ///   - inspects: opens an existing keychain for a report: for reading only, without a change of any
    ///     file. It creates nothing, and does not wait for another process that has locked the database.
    ///   - automaticPasscode: called when a locked item is needed before the first unlock; it
    ///     returns nil if there is no passcode to offer.
    /// - Throws: errSecNotAvailable also if the keychain does not exist yet and another user could
    ///   replace the home's directories.
    public convenience init(
        home: KeychainHome, clocks: Clocks = .system, ownership: HomeOwnership? = nil, account: StorageAccount? = nil,
        user: UInt32 = geteuid(), presence: PresenceSources = PresenceSources(),
        hardware: SecureHardware = SecureHardware(), allowsAlwaysOpen: Bool = true, inspects: Bool = false,
        automaticPasscode: @escaping AutomaticUnlock.Source = { () throws(KeychainError) in nil }
    ) throws(KeychainError) {
        if ownership == nil { try HomeOwnership.refuse(home) }
        let keychain = try OpenKeychain(
            home: home, clocks: clocks, account: account, user: user, presence: presence, hardware: hardware,
            allowsAlwaysOpen: allowsAlwaysOpen, inspects: inspects, automaticPasscode: automaticPasscode)
        // Only a process that the user's programs cannot access keeps the key of biometry.
        if ownership != nil, presence.biometry != nil { keychain.store.keepBiometryKey() }
        self.init(keychain, clocks, ownership == nil ? HomeOwnershipMonitor(home, clocks.boot) : nil)
        if !inspects { sweep.removeLeftovers() }
    }

    /// Creates a keychain in memory. It lives as long as the object or one of its parts.
    public convenience init(
        inMemory clocks: Clocks = .system, user: UInt32 = geteuid(), presence: PresenceSources = PresenceSources(),
        hardware: SecureHardware = SecureHardware()
    ) throws(KeychainError) {
        let keychain = try OpenKeychain(inMemory: clocks, user: user, presence: presence, hardware: hardware)
        self.init(keychain, clocks, nil)
    }

    private init(_ keychain: OpenKeychain, _ clocks: Clocks, _ ownershipMonitor: HomeOwnershipMonitor?) {
        (self.keychain, self.ownershipMonitor) = (keychain, ownershipMonitor)
        sweep = FileSweep(keychain: keychain)
        enclaves = Enclaves(keychain: keychain)
        contexts = KeychainContexts(
            keychain: keychain, registry: AuthenticationContexts(), recognitions: RecentRecognitions(clocks.boot))
        let constraints = ConstrainedCalls(keychain: keychain, contexts: contexts.registry)
        let newItems = NewItems(keychain: keychain)
        keys = KeychainKeys(
            keychain: keychain, constraints: constraints, newItems: newItems, cache: KeyCache(), enclaves: enclaves)
        identities = KeychainIdentities(
            keychain: keychain, constraints: constraints, newItems: newItems, keys: keys)
        items = KeychainItems(keychain, constraints, newItems, identities, sweep)
        fileKeys = KeychainFileKeys(keychain: keychain)
        lock = KeychainLock(keychain: keychain, fileKeys: fileKeys, sweep: sweep)
        securityKeys = KeychainSecurityKeys(keychain: keychain, recognitions: contexts.recognitions)
        files = KeychainFiles(keychain: keychain, items: items, newItems: newItems, sweep: sweep)
        backups = KeychainBackups(keychain: keychain, sweep: sweep)
        copies = KeychainCopies(keychain: keychain, clock: clocks.boot)
        root = KeychainRoot(keychain: keychain)
        _ = keychain.store.addLockObserver { [cache = keys.cache] state in
            if state != .unlocked { cache.removeAll() }
        }
    }

    public var mode: KeychainStatus.Mode { keychain.home == nil ? .ephemeral : .embedded }

    public func status() throws(KeychainError) -> KeychainStatus {
        try keychain.run { () throws(StoreError) in
            var status = KeychainStatus(
                mode: mode, root: Self.root(keychain.store.root),
                databasePath: keychain.home?.databasePath,
                deviceKeyPath: keychain.home?.deviceKeyPath(keychain.store.root),
                formatVersion: KeychainStore.formatVersion,
                hasPasscode: keychain.store.hasPasscode,
                counts: try keychain.store.inspector.counts(),
                quarantined: try keychain.store.inspector.quarantinedRows())
            status.itemsRequiringPasscode = try keychain.store.passcode.itemsRequiringIt
            status.itemsWithoutRecovery = try keychain.store.recoveryLosesConstrainedItems
            status.enclave = (try? enclaves.forNewKeys())?.kind
            status.rootRegisters = root.registers
            status.limitsPasscodes = keychain.store.limitsPasscodes
            status.name = keychain.home?.name ?? .login
            return status
        }
    }

    private static func root(_ root: DeviceKey.Root) -> KeychainStatus.Root {
        switch root {
        case .file: .file
        case .memory: .memory
        case .tpm: .tpm
        case .credential: .credential
        }
    }

    public func check(progress: (Int) -> Void) throws(KeychainError) -> [KeychainFinding] {
        try keychain.run { () throws(StoreError) in
            var findings = HealthCheck.findings(
                try keychain.store.inspector.inspect(progress: progress), home: keychain.home,
                deviceKeyPath: keychain.home?.deviceKeyPath(keychain.store.root),
                hasRecoveryKey: keychain.store.hasRecoveryKey,
                withoutRecovery: try keychain.store.recoveryLosesConstrainedItems)
            // A key in a file is checked at each opening, and does not change meanwhile.
            if let home = keychain.home, keychain.store.root != .file {
                findings += RootDiagnosis(home, keychain.hardware, inspects: keychain.isInspected).ofOpenKeychain()
            }
            return findings
        }
    }

    public func repair(_ action: RepairAction, dryRun: Bool, progress: (Int) -> Void) throws(KeychainError) -> Int {
        let count = try keychain.run { () throws(StoreError) in
            try keychain.store.inspector.repair(action, dryRun: dryRun, progress: progress)
        }
        if !dryRun, count > 0 {
            try checkpoint()
            sweep.removeLeftovers()
        }
        return count
    }

    // MARK: Reads that belong together

    /// Runs `body`. Reads of this thread in it see one state of the keychain and share one transaction, as long as
    /// nothing in it changes the keychain. It may run twice.
    package func reading<Value>(_ body: () -> Value) -> Value {
        // The first read may unlock a locked keychain.
        keychain.store.lockState == .unlocked ? keychain.store.reading(body) : body()
    }

    /// Runs `body` like ``reading(_:)``, if its reads take less than a millisecond, and wait for nothing: for no other
    /// thread, no other process, and no person who unlocks the keychain.
    ///
    /// - Returns: nil if they take longer; then `body` may have run in part.
    package func readingAtOnce<Value>(_ body: () -> Value) -> Value? {
        guard keychain.store.lockState == .unlocked else { return nil }
        return keychain.store.reading(within: Self.shortRead, body)
    }

    private static let shortRead = ReadBudget(rows: 64, bytes: 128 << 10, instructions: 20_000)

    // MARK: Observers

    /// Calls `body` with every new lock state, until the observer is removed.
    public func addLockObserver(_ body: @escaping @Sendable (LockState) -> Void) -> Int {
        keychain.store.addLockObserver(body)
    }
    public func removeLockObserver(_ number: Int) { keychain.store.removeLockObserver(number) }

    /// Calls `body` after every change of the items, the passcode or the settings that any process makes
    /// after this call returns.
    public func addChangeObserver(
        _ body: @escaping @Sendable (KeychainChangeEvent) -> Void
    ) throws(KeychainError) -> Int {
        do throws(StoreError) { return try keychain.store.addChangeObserver(body) } catch { throw KeychainError(error) }
    }
    public func removeChangeObserver(_ number: Int) { keychain.store.removeChangeObserver(number) }

    // MARK: The audit log

    /// The error where an audit log is requested.
    public static let noAudit = KeychainError(
        .notAvailable, "no audit log is kept for a keychain that programs open directly",
        hint: "latchkeyd keeps one: systemctl --user enable --now latchkeyd.socket")

    /// Opens the audit log of this keychain. Only one process at a time may write it.
    public func openAuditLog(limits: AuditLog.Limits = AuditLog.Limits()) throws(KeychainError) -> AuditLog {
        guard let home = keychain.home else { throw Self.noAudit }
        let directory: PrivateDirectory
        do throws(SystemError) {
            directory = try PrivateDirectory(creating: home.stateDirectory)
        } catch {
            throw KeychainError(error)
        }
        return try AuditLog(store: keychain.store, directory: directory, clock: keychain.now, limits: limits)
    }

    // MARK: Its end

    /// The number of private keys in the cache.
    @_spi(Testing) public var cachedKeyCount: Int { keys.cache.count }

    /// Whether keys that require the passcode are in memory.
    @_spi(Testing) public var canOpenPasscodeItems: Bool {
        keychain.store.hasPasscode && keychain.store.isOpen(.whenUnlocked)
    }

    /// Whether a daemon has taken over the home since this process opened it. If so, send further
    /// requests to the daemon.
    public var isOwnedByDaemon: Bool { ownershipMonitor?.isOwnedByDaemon ?? false }

    public func unlockAutomatically() { _ = keychain.unlocksAutomatically() }

    public func checkpoint() throws(KeychainError) {
        try keychain.run { () throws(StoreError) in try keychain.store.checkpoint() }
    }

    public func close() {
        keys.cache.removeAll()
        contexts.registry.removeAll()
        contexts.recognitions.removeAll()
        keychain.store.close()
    }
}

// SPDX-License-Identifier: Apache-2.0

public import Glibc
internal import Keybag
public import KeychainModel
internal import KeychainStore
internal import KeyServices
public import LinuxSystem
internal import Logging

/// The keychain in the calling process: in the user's files, or in memory.
public final class EmbeddedService: Sendable {
    let store: KeychainStore
    /// nil for a keychain in memory.
    let home: KeychainHome?
    /// Whether it was opened for a report, and changes no file.
    let isInspected: Bool
    let clock: @Sendable () -> Double
    let passcodeCost: PasscodeCost
    let keys = KeyCache()
    let contexts = AuthenticationContexts()
    let recognitions: RecentRecognitions
    let presence: PresenceSources
    let hardware: SecureHardware
    /// The user whose keychain it is, who is asked.
    let user: UInt32
    /// Whether new items may have a class that is open without the passcode.
    let allowsAlwaysOpen: Bool
    /// The maximum length of all stored files together, in bytes.
    /// What the user may keep on the disk; nil for no limit.
    let account: StorageAccount?
    private let automaticUnlock: AutomaticUnlock
    /// nil if this process owns the home as the daemon, or if the keychain is in memory.
    private let ownershipMonitor: HomeOwnershipMonitor?
    private let log = Logger(label: "latchkey.service")

    /// Opens the keychain under `home`, and creates it if it does not exist.
    ///
    /// - Parameters:
    ///   - clocks: the wall clock, the boot clock and the cost of a passcode.
    ///   - ownership: the daemon's lock on the home; without it, a home that belongs to a daemon is
    ///     refused.
    ///   - account: what the user may keep on the disk; nil for no limit.
    ///   - user: the user whose keychain it is, who is asked.
    ///   - presence: how the user can be asked.
    ///   - hardware: what holds keys outside of this process's memory.
    ///   - allowsAlwaysOpen: whether new items may have the class `dk` or `dku`.
    ///   - inspects: opens an existing keychain for a report: for reading only, without a change of any
    ///     file. It creates nothing, and does not wait for another process that has locked the database.
    ///   - automaticPasscode: called when a locked item is needed before the first unlock; it
    ///     returns nil if there is no passcode to offer.
    /// - Throws: errSecNotAvailable also if the keychain does not exist yet and another user could
    ///   replace the home's directories.
    public init(
        home: KeychainHome, clocks: Clocks = .system, ownership: HomeOwnership? = nil, account: StorageAccount? = nil,
        user: UInt32 = geteuid(), presence: PresenceSources = PresenceSources(),
        hardware: SecureHardware = SecureHardware(), allowsAlwaysOpen: Bool = true, inspects: Bool = false,
        automaticPasscode: @escaping AutomaticUnlock.Source = { () throws(KeychainError) in nil }
    ) throws(KeychainError) {
        if ownership == nil { try HomeOwnership.refuse(home) }
        let (path, state) = inspects ? try Self.existingFiles(home) : try Self.files(home)
        let storage = DeviceKeyStorage(state, hardware: hardware.root, credentials: hardware.credentialSealer)
        do throws(StoreError) {
            let attempts = PasscodeAttempts(in: state, clock: clocks.boot)
            func deviceKey(_ place: DeviceKeyPlace) throws(KeybagError) -> DeviceKey {
                switch place {
                case .new: try storage.create()
                case .existing(let root): try storage.load(root)
                }
            }
            store =
                inspects
                ? try KeychainStore(inspecting: path, attempts: attempts, clock: clocks.boot, deviceKey: deviceKey)
                : try KeychainStore(
                    path: path, attempts: attempts, clock: clocks.boot, account: account, deviceKey: deviceKey)
            try store.finishMove(in: storage)
        } catch {
            throw KeychainError(error)
        }
        _ = store.addLockObserver { [keys] state in if state != .unlocked { keys.removeAll() } }
        self.home = home
        isInspected = inspects
        self.user = user
        self.presence = presence
        self.hardware = hardware
        // Only a process to which the user's programs have no access keeps what opens by biometry.
        if ownership != nil, presence.biometry != nil { store.keepBiometryKey() }
        ownershipMonitor = ownership == nil ? HomeOwnershipMonitor(home, clocks.boot) : nil
        clock = clocks.wall
        passcodeCost = clocks.passcodeCost
        recognitions = RecentRecognitions(clocks.boot)
        self.allowsAlwaysOpen = allowsAlwaysOpen
        self.account = account
        automaticUnlock = AutomaticUnlock(automaticPasscode)
        if !inspects { removeLeftovers() }
    }

    /// Creates the directories that do not exist.
    private static func files(_ home: KeychainHome) throws(KeychainError) -> (path: String, state: PrivateDirectory) {
        do throws(SystemError) {
            try home.requireSafeIfNew()
            let data = try PrivateDirectory(creating: home.dataDirectory)
            return (data.appending(KeychainHome.databaseName), try PrivateDirectory(creating: home.stateDirectory))
        } catch {
            throw KeychainError(error)
        }
    }

    private static func existingFiles(
        _ home: KeychainHome
    ) throws(KeychainError) -> (path: String, state: PrivateDirectory) {
        let path: String
        do throws(SystemError) {
            path = try PrivateDirectory(existing: home.dataDirectory).appending(KeychainHome.databaseName)
            guard try FileStatus.ofLink(path) != nil else {
                throw SystemError("open", path: path, code: ENOENT, hint: "restore it from a backup")
            }
        } catch {
            throw KeychainError(error)
        }
        do throws(KeybagError) {
            return (path, try existingState(home))
        } catch {
            throw KeychainError(error)
        }
    }

    /// Creates a keychain in memory, which lives as long as the object.
    public init(
        inMemory clocks: Clocks = .system, user: UInt32 = geteuid(), presence: PresenceSources = PresenceSources(),
        hardware: SecureHardware = SecureHardware()
    ) throws(KeychainError) {
        self.user = user
        self.presence = presence
        self.hardware = hardware
        do throws(StoreError) {
            store = try KeychainStore(inMemoryWith: .ephemeral(), clock: clocks.boot)
        } catch {
            throw KeychainError(error)
        }
        _ = store.addLockObserver { [keys] state in if state != .unlocked { keys.removeAll() } }
        home = nil
        isInspected = false
        ownershipMonitor = nil
        clock = clocks.wall
        passcodeCost = clocks.passcodeCost
        recognitions = RecentRecognitions(clocks.boot)
        allowsAlwaysOpen = true
        account = nil
        automaticUnlock = AutomaticUnlock { () throws(KeychainError) in nil }
    }

    // MARK: Items

    public func add(_ item: ItemAddition, from caller: CallerIdentity) throws(KeychainError) -> ItemRecord {
        let context = try provenContext(item.authentication, of: caller)
        let record = try record(of: item, for: try Authorizer.authorize(caller))
        let binding = try binding(for: record.accessControlFlags, context)
        return try runConstrained(
            record.itemClass, context, new: (record.promptLabel, record.accessControlFlags)
        ) { () throws(StoreError) -> ItemRecord in
            guard record.storedLookup != nil else { return try store.add(record, binding: binding) }
            return try addWithLookup(record, item, ConstraintUse(context?.keys, binding: binding))
        }
    }

    /// Returns the record to store for an addition, after every check.
    ///
    /// - Parameter publicKey: the public half of a key that the service has just created in an
    ///   enclave.
    func record(
        of item: ItemAddition, for caller: AuthorizedCaller, enclaveKey publicKey: [UInt8]? = nil
    ) throws(KeychainError) -> ItemRecord {
        let group = try caller.groupForAddition(named: item.accessGroup)
        guard item.itemClass != .identity else {
            throw .parameter("an identity is added by reference; it has no row of its own")
        }
        let now = clock()
        var record = ItemRecord(
            identifier: .random(), itemClass: item.itemClass,
            protection: item.protection ?? .initial(for: item.itemClass),
            accessGroup: group, isSynchronizable: item.isSynchronizable, created: now, modified: now,
            attributes: item.attributes,
            accessControlFlags: item.accessControlFlags, addedBy: caller.executable, secrets: item.secrets)
        try LookupRules.apply(item, to: &record)
        KeyRules.complete(&record)
        record.completeDefaults()
        try ItemRules.check(record)
        try ItemRules.checkClass(of: record, allowsAlwaysOpen: allowsAlwaysOpen)
        try ItemRules.checkDates(of: record.attributes)
        try ItemRules.checkAccessList(in: record.attributes)
        if let publicKey { record.publicKey = publicKey } else { try KeyRules.refuseToken(record) }
        KeyRules.rememberPublicKey(of: &record)
        return record
    }

    public func copyMatching(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> ItemMatches {
        if query.isAboutIdentities {
            return try copyIdentityItems(query, returning: returning, from: caller)
        }
        if query.isAboutAllPasswords { return try copyPasswords(query, returning: returning, from: caller) }
        let context = try provenContext(query.authentication, of: caller)
        let caller = try Authorizer.authorize(caller)
        let search = try caller.search(query, for: .read)
        let limit = (query.limit ?? .one).count
        func find(_ maxRows: Int?) throws(KeychainError) -> (found: SearchResult, count: Int) {
            var result = try run { () throws(StoreError) in
                try store.search(
                    search, limit: maxRows, withSecrets: returning.contains(.data),
                    withDigest: returning.isSuperset(of: [.data, .attributes]),
                    // The rules of keys read their attributes.
                    withAttributes: returning != .data || search.itemClass == .key, constraints: context?.keys)
            }
            discard(result.lost, of: search.itemClass)
            context?.passwordWas(right: result.wrongPasswords.isEmpty)
            let count = result.records.count + result.locked.count + result.damaged.count + result.lost.count
            result.records = try settle(result.records, query.authentication, limit: limit)
            return (result, count)
        }
        var (result, count) = try find(limit)
        if !result.locked.isEmpty, unlocksAutomatically() { (result, count) = try find(limit) }
        // Items that are left out do not count: others may be in their places.
        if query.authentication.interaction == .skip, let limit, result.records.count < limit, count >= limit {
            result = try find(nil).found
        }
        for row in result.damaged {
            // Debug level only: warnings of a library at every search would flood its host's log.
            // `doctor` and `Latchkey` report damaged rows.
            log.debug(
                "skipped a damaged row",
                metadata: ["item": "\(row.identifier?.description ?? "?")", "reason": "\(row.reason)"])
        }
        if search.itemClass == .key { try KeyRules.removeProtectedData(from: &result.records, returning) }
        return ItemMatches(records: result.records, damaged: result.damaged.count, locked: result.locked)
    }

    public func update(_ query: ItemQuery, with update: ItemUpdate, from caller: CallerIdentity) throws(KeychainError)
        -> Int
    {
        if query.isAboutIdentities { return try updateIdentities(query, with: update, from: caller) }
        let context = try provenContext(query.authentication, of: caller)
        let use = ConstraintUse(context?.keys, binding: try binding(for: update.accessControlFlags, context))
        let caller = try Authorizer.authorize(caller)
        let search = try caller.search(query, for: .write)
        var group: AccessGroup?
        if let name = update.accessGroup { group = try caller.groupForMove(named: name) }
        let target = group
        let now = clock()
        let label = query.promptLabel
        return try runConstrained(search.itemClass, context, new: (label, update.accessControlFlags)) {
            () throws(StoreError) in
            try store.update(search, constraints: use, numbersAccounts: update.lookupAttributes != nil) {
                (record) throws(KeychainError) in
                try ItemRules.applying(
                    update, to: record, group: target, now: now, allowsAlwaysOpen: allowsAlwaysOpen)
            }
        }
    }

    public func delete(_ query: ItemQuery, from caller: CallerIdentity) throws(KeychainError) -> Int {
        if query.isAboutIdentities { return try deleteIdentities(query, from: caller) }
        let caller = try Authorizer.authorize(caller)
        let search = try caller.search(query, for: .write)
        let now = clock()
        return try removingFiles { () throws(KeychainError) in
            try run { () throws(StoreError) in try store.remove(search, now: now) }
        }
    }

    // MARK: The whole keychain

    public var mode: KeychainStatus.Mode { home == nil ? .ephemeral : .embedded }

    public func status() throws(KeychainError) -> KeychainStatus {
        try run { () throws(StoreError) in
            var status = KeychainStatus(
                mode: mode, root: Self.root(store.root),
                databasePath: home?.databasePath,
                deviceKeyPath: home?.deviceKeyPath(store.root), formatVersion: KeychainStore.formatVersion,
                hasPasscode: store.hasPasscode,
                counts: try store.counts(), quarantined: try store.quarantinedRows())
            status.itemsRequiringPasscode = try store.itemsRequiringPasscode
            status.itemsWithoutRecovery = try store.recoveryLosesConstrainedItems
            status.enclave = (try? enclaveForNewKeys())?.kind
            status.rootRegisters = rootRegisters
            status.limitsPasscodes = store.limitsPasscodes
            status.name = home?.name ?? .login
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
        try run { () throws(StoreError) in
            var findings = HealthCheck.findings(
                try store.inspect(progress: progress), home: home, deviceKeyPath: home?.deviceKeyPath(store.root),
                hasRecoveryKey: store.hasRecoveryKey,
                withoutRecovery: try store.recoveryLosesConstrainedItems)
            // A key in a file is checked at each opening, and does not change meanwhile.
            if let home, store.root != .file {
                findings += RootDiagnosis(home, hardware, inspects: isInspected).ofOpenKeychain()
            }
            return findings
        }
    }

    public func repair(_ action: RepairAction, dryRun: Bool, progress: (Int) -> Void) throws(KeychainError) -> Int {
        let count = try run { () throws(StoreError) in try store.repair(action, dryRun: dryRun, progress: progress) }
        if !dryRun, count > 0 {
            try checkpoint()
            removeLeftovers()
        }
        return count
    }

    /// The error where an audit log is requested.
    public static let noAudit = KeychainError(
        .notAvailable, "no audit log is kept for a keychain that programs open directly",
        hint: "latchkeyd keeps one: systemctl --user enable --now latchkeyd.socket")

    /// Opens the audit log of this keychain. Only one process at a time may write it.
    public func openAuditLog(limits: AuditLog.Limits = AuditLog.Limits()) throws(KeychainError) -> AuditLog {
        guard let home else { throw Self.noAudit }
        let directory: PrivateDirectory
        do throws(SystemError) {
            directory = try PrivateDirectory(creating: home.stateDirectory)
        } catch {
            throw KeychainError(error)
        }
        return try AuditLog(store: store, directory: directory, clock: clock, limits: limits)
    }

    /// The number of private keys in the cache.
    @_spi(Testing) public var cachedKeyCount: Int { keys.count }

    /// Whether keys that require the passcode are in memory.
    @_spi(Testing) public var canOpenPasscodeItems: Bool { store.hasPasscode && store.isOpen(.whenUnlocked) }

    /// Whether a daemon has taken over the home since this process opened it. If so, send further
    /// requests to the daemon.
    public var isOwnedByDaemon: Bool { ownershipMonitor?.isOwnedByDaemon ?? false }

    public func checkpoint() throws(KeychainError) {
        try run { () throws(StoreError) in try store.checkpoint() }
    }

    public func close() {
        keys.removeAll()
        contexts.removeAll()
        recognitions.removeAll()
        store.close()
    }

    /// Runs `body`; if it fails because the keychain was never unlocked, unlocks it with the
    /// automatic passcode and runs `body` once more.
    func run<Result>(_ body: () throws(StoreError) -> Result) throws(KeychainError) -> Result {
        do {
            return try body()
        } catch .keybag(.closed(let protection)) where store.lockState == .beforeFirstUnlock {
            guard try unlockWithOwnPasscode() else { throw KeychainError(.closed(protection)) }
        } catch {
            throw KeychainError(error)
        }
        do {
            return try body()
        } catch {
            throw KeychainError(error)
        }
    }

    public func unlockAutomatically() { _ = unlocksAutomatically() }

    /// Whether the keychain was not unlocked before, and is now.
    func unlocksAutomatically() -> Bool {
        guard !isInspected, store.lockState == .beforeFirstUnlock, let attempts = try? store.passcodeAttempts(),
            LockStatus.allowsUntypedPasscode(after: attempts.count, delay: attempts.delay)
        else { return false }
        return automaticUnlock.reportingFailures { () throws(KeychainError) in try unlockWithOwnPasscode() }
    }

    private func unlockWithOwnPasscode() throws(KeychainError) -> Bool {
        try automaticUnlock.perform(isNeeded: { store.lockState == .beforeFirstUnlock }) {
            (rawPasscode) throws(KeychainError) in
            let passcode = try Self.passcode(rawPasscode)
            do throws(StoreError) {
                try store.unlock(passcode, floor: passcodeCost, isAutomatic: true)
                return true
            } catch {
                if case .keybag(.wrongPasscode) = error { return false }
                throw KeychainError(error)
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The location, protection and content of a keychain.
public struct KeychainStatus: Sendable {
    /// How the calling program reaches the keychain.
    public enum Mode: String, Sendable {
        /// In the calling process, on the user's files.
        case embedded
        /// In the calling process, in memory only.
        case ephemeral
        /// Through the user's own latchkeyd.
        case user
        /// Through the system's latchkeyd, with one keychain for each user.
        case system
        /// Through a process that has opened the keychain only for its children (`latchkey
        /// with-passcode`).
        case session

        /// Whether another process holds the keychain.
        public var isShared: Bool { self != .embedded && self != .ephemeral }
    }

    /// Where the device key is kept.
    public enum Root: String, Sendable {
        /// A file of mode 0600.
        case file
        /// The memory of this process.
        case memory
        /// A file that only the TPM of the machine opens.
        case tpm
        /// A credential of systemd, encrypted for this machine.
        case credential
    }

    public struct Count: Sendable {
        public let itemClass: ItemClass
        public let protection: ProtectionClass
        public let count: Int

        public init(itemClass: ItemClass, protection: ProtectionClass, count: Int) {
            self.itemClass = itemClass
            self.protection = protection
            self.count = count
        }
    }

    public var mode: Mode
    public var root: Root
    /// The path of the database; nil in memory.
    public var databasePath: String?
    /// The path of the device key; nil in memory.
    public var deviceKeyPath: String?
    public var formatVersion: Int
    public var hasPasscode: Bool
    public var counts: [Count]
    /// The number of damaged rows that were moved to quarantine.
    public var quarantined: Int
    /// Whether decisions are recorded in an audit log.
    public var hasAuditLog = false
    /// The number of items that a removal of the passcode would destroy.
    public var itemsRequiringPasscode = 0
    /// The number of items with an access control that the present recovery key does not open,
    /// although it keeps their class; 0 without a recovery key.
    public var itemsWithoutRecovery = 0
    /// The kind of enclave that holds new keys; nil if there is none.
    public var enclave: EnclaveKind?
    /// The PCRs with values that the TPM requires to open the device key; empty for none.
    public var rootRegisters: Set<UInt8> = []
    /// Whether hardware counts wrong passcodes, and accepts none after ten.
    public var limitsPasscodes = false
    /// The name of the keychain.
    public var name = KeychainName.login
    /// The daemon that holds the keychain; nil if this process does.
    public var daemon: Daemon?

    public struct Daemon: Sendable, Hashable {
        public let process: Int32
        /// Whether a command has started it, so that it ends when nothing is unlocked.
        public let isOnDemand: Bool

        public init(process: Int32, isOnDemand: Bool) { (self.process, self.isOnDemand) = (process, isOnDemand) }
    }

    public init(
        mode: Mode, root: Root, databasePath: String?, deviceKeyPath: String?, formatVersion: Int, hasPasscode: Bool,
        counts: [Count],
        quarantined: Int
    ) {
        self.mode = mode
        self.root = root
        self.databasePath = databasePath
        self.deviceKeyPath = deviceKeyPath
        self.formatVersion = formatVersion
        self.hasPasscode = hasPasscode
        self.counts = counts
        self.quarantined = quarantined
    }
}

/// The repair of damaged rows.
public enum RepairAction: Sendable {
    /// Moves every row that cannot be opened to quarantine.
    case moveDamaged
    /// Deletes the rows in quarantine.
    case emptyQuarantine
}

/// One finding of the health check.
public struct KeychainFinding: Sendable {
    /// The subject of the check: `permissions`, `schema`, `rows`.
    public var subject: String
    /// Whether the check found nothing wrong.
    public var isHealthy: Bool
    /// The result of the check, as text.
    public var detail: String
    /// The action to take if the result is not healthy.
    public var hint: String?
    /// The steps that lead back to the items, in order; empty if the hint is enough.
    public var steps: [String]

    /// Creates the finding of a check.
    public init(_ subject: String, isHealthy: Bool, detail: String, hint: String? = nil, steps: [String] = []) {
        self.subject = subject
        self.isHealthy = isHealthy
        self.detail = detail
        self.hint = hint
        self.steps = steps
    }
}

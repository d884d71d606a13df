// SPDX-License-Identifier: Apache-2.0

/// Where the keychain is, what protects it and what it holds.
public struct KeychainStatus: Sendable {
    /// How the calling program reaches the keychain.
    public enum Mode: String, Sendable {
        /// In the calling process, on the user's files.
        case embedded
        /// In the calling process, in memory only.
        case ephemeral
        /// Through the user's own latchkeyd.
        case user
        /// Through the system's latchkeyd, which keeps one keychain a user.
        case system
        /// Through a process that has opened the keychain for its children alone (`latchkey with-passcode`).
        case session

        /// Whether another process holds the keychain.
        public var isShared: Bool { self != .embedded && self != .ephemeral }
    }

    /// What the device key is kept in.
    public enum Root: String, Sendable {
        /// A 0600 file.
        case file
        /// The memory of this process.
        case memory
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
    /// The database; nil in memory.
    public var databasePath: String?
    /// The device key; nil in memory.
    public var deviceKeyPath: String?
    public var formatVersion: Int
    public var hasPasscode: Bool
    public var counts: [Count]
    /// Rows that were found damaged and moved aside.
    public var quarantined: Int
    /// Whether decisions are written down.
    public var hasAuditLog = false

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

/// What can be done about damaged rows.
public enum RepairAction: Sendable {
    /// Moves every row that does not open to quarantine.
    case moveDamaged
    /// Deletes the rows in quarantine.
    case emptyQuarantine
}

/// One thing that a check of the keychain looked at.
public struct KeychainFinding: Sendable {
    /// What was looked at: `permissions`, `schema`, `rows`.
    public var subject: String
    public var isHealthy: Bool
    /// What was found.
    public var detail: String
    /// What to do where it is not healthy.
    public var hint: String?

    public init(_ subject: String, isHealthy: Bool, detail: String, hint: String? = nil) {
        self.subject = subject
        self.isHealthy = isHealthy
        self.detail = detail
        self.hint = hint
    }
}

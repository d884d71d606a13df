// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// An operation that a program requests from the daemon.
public enum Request: Sendable {
    case hello(Hello)

    case add(ItemAddition)
    case copyMatching(ItemQuery, returning: ReturnTypes)
    case update(ItemQuery, with: ItemUpdate)
    case delete(ItemQuery)
    /// Adds all of them, or none.
    case addIdentities([IdentityAddition])

    case status
    case check
    case repair(RepairAction, dryRun: Bool)
    case checkpoint
    case who

    case lockStatus
    case unlock(SharedSecret)
    case lock(immediately: Bool)
    /// Receives every new lock state, until the connection ends.
    case watchLock

    case setPasscode(SharedSecret)
    case changePasscode(from: SharedSecret, to: SharedSecret, rotates: Bool)
    case removePasscode(SharedSecret)
    case createRecoveryKey(SharedSecret?)
    case removeRecoveryKey(SharedSecret?)
    case changeSettings(KeybagSettings, SharedSecret?)
    /// - Parameter newPasscode: nil only counts the items that would be lost.
    case recover(with: SharedSecret, newPasscode: SharedSecret?)

    case backup(under: SharedSecret, passcode: SharedSecret?, includesNonExtractable: Bool = false)
    case recordBackup
    case restore(under: SharedSecret, passcode: SharedSecret?, merges: Bool, dryRun: Bool)
    /// A piece of the backup that is being restored; an empty piece ends it.
    case piece([UInt8])

    case readLog(after: UInt64, since: Double?)
    case verifyLog

    /// Opens a session for the programs that have the other end of the descriptor, which follows.
    case openSession(SharedSecret?)

    case generateKey(KeyGeneration)
    case publicKey(of: PersistentReference)
    case useKey(PersistentReference, PrivateKeyUse, on: SharedSecret)
    case exportKey(PersistentReference)

    /// The client's first request of a connection.
    public struct Hello: Sendable, Equatable {
        public var version: UInt32
        /// The program's statement about itself.
        public var claim: CallerIdentity

        public init(version: UInt32 = WireVersion.current, claim: CallerIdentity) {
            self.version = version
            self.claim = claim
        }
    }

    /// Whether the request is refused while the log cannot be written. Locking, reading the state,
    /// and deleting items are always possible.
    public var needsLog: Bool {
        switch self {
        case .hello, .lock, .lockStatus, .watchLock, .status, .who, .readLog, .verifyLog, .delete, .piece: false
        default: true
        }
    }

    /// Whether the request is about the whole keychain. A program in a sandbox may not make such
    /// requests.
    public var isAdministrative: Bool {
        switch self {
        case .hello, .add, .addIdentities, .copyMatching, .update, .delete, .status, .who, .lockStatus, .lock,
            .watchLock, .piece,
            .generateKey, .publicKey, .useKey, .exportKey:
            false
        default: true
        }
    }

    /// Whether the request reads, creates, deletes or locks items of all groups, or changes what
    /// protects them. If the keychain may hold items of attested groups, only attested callers may
    /// make such requests.
    public var accessesAllGroups: Bool {
        switch self {
        case .backup, .restore, .repair, .recover, .setPasscode, .changePasscode, .removePasscode, .createRecoveryKey,
            .removeRecoveryKey,
            .changeSettings, .lock:
            true
        default: false
        }
    }

    /// Whether the request changes anything, so that a repeated request must not be carried out
    /// twice.
    public var isChange: Bool {
        switch self {
        case .hello, .copyMatching, .status, .check, .who, .lockStatus, .watchLock, .backup, .piece, .readLog,
            .verifyLog, .checkpoint,
            .lock, .unlock, .recordBackup, .openSession, .publicKey, .useKey, .exportKey:
            false
        case .add, .addIdentities, .update, .delete, .repair, .setPasscode, .changePasscode, .removePasscode,
            .createRecoveryKey,
            .removeRecoveryKey, .changeSettings, .recover, .restore, .generateKey:
            true
        }
    }
}

/// A request with its number in the connection, and with the token of a change.
public struct NumberedRequest: Sendable {
    public var number: UInt64
    /// 16 random bytes, the same in every attempt at one change; empty otherwise.
    public var token: [UInt8]
    public var request: Request

    public init(number: UInt64, token: [UInt8] = [], _ request: Request) {
        self.number = number
        self.token = token
        self.request = request
    }
}

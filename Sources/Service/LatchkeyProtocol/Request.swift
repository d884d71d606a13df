// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// What a program asks of the daemon.
public enum Request: Sendable {
    case hello(Hello)

    case add(ItemAddition)
    case copyMatching(ItemQuery, returning: ReturnTypes)
    case update(ItemQuery, with: ItemUpdate)
    case delete(ItemQuery)
    /// All of them, or nothing.
    case addIdentities([IdentityAddition])

    case status
    case check
    case repair(RepairAction, dryRun: Bool)
    case checkpoint
    case who

    case lockStatus
    case unlock(SharedSecret)
    case lock(immediately: Bool)
    /// Answers with every new state of the lock, until the connection ends.
    case watchLock

    case setPasscode(SharedSecret)
    case changePasscode(from: SharedSecret, to: SharedSecret, rotates: Bool)
    case removePasscode(SharedSecret)
    case createRecoveryKey(SharedSecret?)
    case removeRecoveryKey(SharedSecret?)
    case changeSettings(KeybagSettings, SharedSecret?)
    /// - Parameter newPasscode: nil only counts what would be lost.
    case recover(with: SharedSecret, newPasscode: SharedSecret?)

    case backup(under: SharedSecret, passcode: SharedSecret?, includesNonExtractable: Bool = false)
    case recordBackup
    case restore(under: SharedSecret, passcode: SharedSecret?, merges: Bool, dryRun: Bool)
    /// A piece of the backup that is being restored; the empty one ends it.
    case piece([UInt8])

    case readLog(after: UInt64, since: Double?)
    case verifyLog

    /// Opens a keychain of their own for the programs behind the descriptor that follows.
    case openSession(SharedSecret?)

    case generateKey(KeyGeneration)
    case publicKey(of: PersistentReference)
    case useKey(PersistentReference, PrivateKeyUse, on: SharedSecret)
    case exportKey(PersistentReference)

    /// How a client introduces itself.
    public struct Hello: Sendable, Equatable {
        public var version: UInt32
        /// What the program says of itself.
        public var claim: CallerIdentity

        public init(version: UInt32 = WireVersion.current, claim: CallerIdentity) {
            self.version = version
            self.claim = claim
        }
    }

    /// Whether the request decides something that has to be written down. A keychain is always locked and looked at, and items always deleted,
    /// also where nothing can be written.
    public var needsLog: Bool {
        switch self {
        case .hello, .lock, .lockStatus, .watchLock, .status, .who, .readLog, .verifyLog, .delete, .piece: false
        default: true
        }
    }

    /// Whether the request is about the keychain as a whole, which is not for a program in a sandbox.
    public var isAdministrative: Bool {
        switch self {
        case .hello, .add, .addIdentities, .copyMatching, .update, .delete, .status, .who, .lockStatus, .lock,
            .watchLock, .piece,
            .generateKey, .publicKey, .useKey, .exportKey:
            false
        default: true
        }
    }

    /// Whether the request reads, makes, deletes or closes items whatever group they are in, or changes what protects them. In a keychain that may
    /// hold items of attested groups it is for attested callers.
    public var accessesAllGroups: Bool {
        switch self {
        case .backup, .restore, .repair, .recover, .setPasscode, .changePasscode, .removePasscode, .createRecoveryKey,
            .removeRecoveryKey,
            .changeSettings, .lock:
            true
        default: false
        }
    }

    /// Whether the request changes anything, so that it must not be made twice.
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

/// A request on its way: with its number, and with the token of a change.
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

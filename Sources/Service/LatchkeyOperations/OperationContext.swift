// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyService
package import LinuxSystem
package import Presence
internal import SecretMemory

/// The resources that an operation needs from the process that holds the keychain: the keychain, the caller, shares of
/// limited resources, and the connection to the client.
package protocol OperationContext {
    // MARK: The caller

    var caller: CallerIdentity { get }

    /// The facts about the caller, with their sources.
    func callerFacts() throws(KeychainError) -> [CallerReport.Fact]

    /// Denies access to the secrets of these groups, unless the policy allows it.
    ///
    /// - Parameter groups: nil for all groups.
    /// - Throws: errSecInteractionNotAllowed if the caller needs the passcode.
    func requireAccess(toSecretsIn groups: [AccessGroup]?) throws(KeychainError)

    /// Whether access to secrets depends on their groups; if not, it is allowed.
    var mayNeedPasscode: Bool { get throws(KeychainError) }

    /// Returns a check that repeats the decision on the operation at the time when it is called,
    /// because the caller's rights may have changed since the request arrived.
    func accessCheck(_ traits: OperationTraits) throws(KeychainError)
        -> @Sendable () throws(KeychainError) -> Void

    // MARK: The keychain

    /// The keychain, opened if necessary.
    var service: EmbeddedService { get throws(KeychainError) }
    var mode: KeychainStatus.Mode { get throws(KeychainError) }
    /// The process that serves the keychain; nil for the caller itself.
    var daemon: KeychainStatus.Daemon? { get }
    /// nil if there is no audit log.
    var auditLog: AuditLog? { get throws(KeychainError) }

    /// The keychains of the caller's user.
    var registry: any KeychainRegistry { get throws(KeychainError) }

    /// The operations on the caller's keychain that work even if it cannot be opened.
    var rescue: any KeychainRescue { get throws(KeychainError) }

    /// The source of the changes that the caller can see: the keychain, or all those of the search list.
    var changes: any KeychainService { get throws(KeychainError) }

    /// Unlocks the keychain with the passcode of this process, before its lock is reported to others.
    func unlockAutomatically() throws(KeychainError)

    /// Returns a file for a backup in transit, so that a slow client does not block the keychain; nil for a caller in
    /// this process, because it blocks only itself.
    ///
    /// - Throws: errSecNotAvailable for a keychain in memory.
    func openSpool() throws(KeychainError) -> Spool?

    // MARK: Limited resources

    /// Returns the right to use a resource; nil if the user has no share of it left.
    func acquire(_ resource: LimitedResource) -> OperationPermit?

    /// Keeps the right until the response has been sent.
    func hold(_ permit: OperationPermit)

    /// The user's share of a resource.
    func limit(of resource: LimitedResource) -> Int

    /// The memory that the results of one request may occupy, in bytes; nil for no limit.
    var maxResultSize: Int? { get }

    /// Runs slow work on the daemon's pool, until the client disconnects or the daemon is stopped.
    func slow<Value: Sendable>(
        _ kind: SlowWorkKind, _ body: @escaping @Sendable () throws(KeychainError) -> Value
    ) throws(KeychainError) -> Value

    /// Calls `body` with the host of an authentication: shares of the daemon's pool, and an end when the client
    /// disconnects.
    func evaluating<Value>(
        _ body: (any EvaluationHost) throws(KeychainError) -> Value
    ) throws(KeychainError) -> Value

    // MARK: The client

    /// Sends the progress of the operation to the client, without waiting for it.
    var progress: ChangeProgress { get }

    /// Whether an answer can be sent in parts while the operation runs.
    var sendsParts: Bool { get }

    /// Sends a content that precedes the answer; returns false if the client has disconnected.
    func send(_ content: some ResponseContent) -> Bool

    /// Makes the client forget the contents sent so far, because the operation begins anew.
    ///
    /// - Throws: errSecNotAvailable if it cannot.
    func restart() throws(KeychainError)

    /// Whether the client is still connected.
    var isConnected: Bool { get }

    /// Waits until a signal is raised, and lowers it, or until the client no longer waits.
    ///
    /// - Returns: whether the client still waits: it is connected, and has sent nothing further.
    func awaits(_ signal: WakeSignal) -> Bool

    /// Receives the part that the client sends when it was told that the operation is ready.
    ///
    /// - Parameter noun: the name of the received content, for messages.
    func next<Part: KeychainOperation>(_ type: Part.Type, _ noun: String) throws(KeychainError) -> Part

    // MARK: Questions

    /// Makes the client an agent of its user.
    ///
    /// - Throws: errSecNotAvailable if this daemon needs no agents, or if the user has too many.
    func registerAgent() throws(KeychainError) -> any AgentRegistration

    /// Answers a question that was given to the client's process.
    ///
    /// - Throws: errSecParam if no such question waits for an answer.
    func answerQuestion(_ number: UInt64, with outcome: PresenceOutcome) throws(KeychainError)

    // MARK: Sessions

    /// Opens the files of the keychain a second time.
    func reopen() throws(KeychainError) -> EmbeddedService

    /// Receives a socket from the client, and serves the keychain to the processes that connect
    /// through it.
    ///
    /// - Parameters:
    ///   - knowsPasscode: whether the client has given the passcode.
    ///   - permit: released when the session ends.
    func startSession(
        _ service: EmbeddedService, knowsPasscode: Bool, permit: OperationPermit
    ) throws(KeychainError)
}

/// The right to use a limited resource, until the last reference to it is released.
package typealias OperationPermit = any AnyObject & Sendable

/// A resource with a share for each user.
package enum LimitedResource: Sendable, CaseIterable {
    /// A search for one item with its data, until its results are sent.
    case search
    /// A search for more than one item, until its results are sent.
    case multiItemSearch
    /// A backup or a restoration.
    case spool
    /// A file that is being stored.
    case fileStore
    /// A read of the audit log.
    case logReading
    /// An operation with a key of the keychain.
    case keyUse
    /// A connection that waits for changes of the lock or of the items.
    case watcher
    /// A session that is open, or being opened.
    case session
}

/// The resources that slow work occupies.
package enum SlowWorkKind: Sendable {
    /// Takes time.
    case computation
    /// Takes time, and the memory of a key derivation (128 to 256 MiB) until it releases its
    /// `DerivationPermit`.
    case derivation
}

extension OperationContext {
    /// Receives the next piece of a backup; returns nil at its end.
    func nextPiece() throws(KeychainError) -> [UInt8]? {
        let bytes = try next(SendPiece.self, "backup").bytes
        return bytes.isEmpty ? nil : bytes
    }

    /// Receives the next part of a file that is being stored; returns nil at its end.
    func nextFileContent() throws(KeychainError) -> SharedSecret? {
        let content = try next(SendFileContent.self, "file").content
        return content.count == 0 ? nil : content
    }
}

// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyService
internal import LinuxSystem
internal import Presence
internal import SecretMemory

extension EmbeddedService: KeychainService {
    package func perform<Operation: KeychainOperation>(
        _ operation: Operation, from caller: CallerIdentity, _ exchange: Exchange
    ) throws(KeychainError) -> Operation.Answer {
        let context = LocalContext(self, caller, exchange)
        do throws(KeychainError) {
            return try operation.run(in: context)
        } catch {
            throw context.problem ?? error
        }
    }

    package func addLockObserver(reportsPresent: Bool, _ body: @escaping @Sendable (LockState?) -> Void) -> Int {
        guard reportsPresent else { return addLockObserver { body($0) } }
        let hasChanged = SystemMutex(false)
        let number = addLockObserver { state in
            hasChanged.withLock { hasChanged in
                hasChanged = true
                body(state)
            }
        }
        // Read after the observer is registered, so that no change is missed. A reported one is newer.
        let present = (try? lock.status().state) ?? .beforeFirstUnlock
        hasChanged.withLock { if !$0 { body(present) } }
        return number
    }

    package var held: EmbeddedService? { self }
}

/// The context of an operation in the process that has requested it, and holds the keychain itself: no policy beyond
/// the access groups, because such a process has the keys, and no shares of anything.
private final class LocalContext: OperationContext {
    let service: EmbeddedService
    let caller: CallerIdentity
    private let exchange: Exchange
    /// The error of the caller that has ended the operation.
    private(set) var problem: KeychainError?

    init(_ service: EmbeddedService, _ caller: CallerIdentity, _ exchange: Exchange) {
        (self.service, self.caller, self.exchange) = (service, caller, exchange)
    }

    // MARK: The caller

    func callerFacts() throws(KeychainError) -> [CallerReport.Fact] {
        CallerReader(commands: [], entitlements: nil).currentProcessFacts(caller)
    }

    func requireAccess(toSecretsIn groups: [AccessGroup]?) throws(KeychainError) {}

    var mayNeedPasscode: Bool { false }

    func accessCheck(_ traits: OperationTraits) throws(KeychainError)
        -> @Sendable () throws(KeychainError) -> Void
    { { () throws(KeychainError) in } }

    // MARK: The keychain

    var mode: KeychainStatus.Mode { get throws(KeychainError) { service.mode } }
    var daemon: KeychainStatus.Daemon? { nil }
    var auditLog: AuditLog? { nil }
    var changes: any KeychainService { service }
    var registry: any KeychainRegistry { get throws(KeychainError) { throw Self.onlyOfDaemons } }
    var rescue: any KeychainRescue { get throws(KeychainError) { throw Self.onlyOfDaemons } }

    /// Who asks unlocks the keychain itself.
    func unlockAutomatically() {}

    func openSpool() throws(KeychainError) -> Spool? { nil }

    // MARK: Limited resources

    func acquire(_ resource: LimitedResource) -> OperationPermit? { FreePermit.shared }
    func hold(_ permit: OperationPermit) {}
    func limit(of resource: LimitedResource) -> Int { .max }
    var maxResultSize: Int? { nil }

    func slow<Value: Sendable>(
        _ kind: SlowWorkKind, _ body: @escaping @Sendable () throws(KeychainError) -> Value
    ) throws(KeychainError) -> Value {
        try body()
    }

    func evaluating<Value>(
        _ body: (any EvaluationHost) throws(KeychainError) -> Value
    ) throws(KeychainError) -> Value {
        try body(LocalEvaluationHost())
    }

    // MARK: The client

    var progress: ChangeProgress { exchange.progress }
    var sendsParts: Bool { exchange.take != nil }
    var isConnected: Bool { problem == nil }

    func send(_ content: some ResponseContent) -> Bool {
        guard let take = exchange.take, !(content is Ready) else { return true }
        do throws(KeychainError) {
            try take(content)
            return true
        } catch {
            problem = error
            return false
        }
    }

    func restart() throws(KeychainError) {
        guard let restart = exchange.restart else { throw .changedDuringSearch }
        try restart()
    }

    func awaits(_ signal: WakeSignal) -> Bool { false }

    func next<Part: KeychainOperation>(_ type: Part.Type, _ noun: String) throws(KeychainError) -> Part {
        guard let part = try exchange.give?() as? Part else { throw .unexpectedResponse }
        return part
    }

    // MARK: Only for daemons

    func registerAgent() throws(KeychainError) -> any AgentRegistration { throw Self.onlyOfDaemons }
    func answerQuestion(_ number: UInt64, with outcome: PresenceOutcome) throws(KeychainError) {
        throw Self.onlyOfDaemons
    }
    func reopen() throws(KeychainError) -> EmbeddedService { throw Self.onlyOfDaemons }
    func startSession(
        _ service: EmbeddedService, knowsPasscode: Bool, permit: OperationPermit
    ) throws(KeychainError) {
        throw Self.onlyOfDaemons
    }

    private static let onlyOfDaemons = KeychainError(
        .notAvailable, "only latchkeyd can do this; this process holds the keychain itself")
}

/// The right to use a resource without a limit.
private final class FreePermit: Sendable {
    static let shared = FreePermit()
}

// SPDX-License-Identifier: Apache-2.0

import KeyServices
import KeychainModel
@_spi(Testing) import LatchkeyClient
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Synchronization

/// A keychain in which the test decides what the person does. It keeps contexts and items as
/// latchkeyd does, without encryption.
final class FakeKeychain: OperationPerformer {
    /// What the person does when asked.
    enum Person: Sendable {
        /// Does what is asked for.
        case authenticates
        /// Does something else.
        case fails(AuthenticationFailure)
        /// Does nothing until the context ends.
        case waits
        /// Does nothing, and the prompt stays although the context has ended.
        case ignores(until: DispatchGate)
    }

    /// A call of ``authenticate(for:in:prompt:from:)``.
    struct Prompt: Sendable {
        let target: AuthenticationTarget
        let prompt: AuthenticationPrompt
    }

    struct Context: Sendable {
        var isProven = false
        var password: SharedSecret?
    }

    struct StoredKey: Sendable {
        let key: SoftwareKey
    }

    struct State: Sendable {
        var status = PresenceStatus(
            methods: [.init(name: "pinentry", factors: ["the passcode"])], hasPasscode: true, biometry: .available,
            enrolledSet: EnrolledSet(digest: [UInt8](repeating: 1, count: EnrolledSet.digestLength)))
        var statusError: KeychainError?
        var person = Person.authenticates
        var contexts: [AuthenticationContextID: Context] = [:]
        /// Every prompt that was displayed.
        var prompts: [Prompt] = []
        var endedContexts: [AuthenticationContextID] = []
        var lastContext: UInt8 = 0
        var items: [PersistentReference: ItemRecord] = [:]
        var keys: [PersistentReference: StoredKey] = [:]
        /// The next addition of an item with this label fails.
        var failingLabel: String?
        var waiters: [AuthenticationContextID: DispatchGate] = [:]
    }

    let state = Mutex(State())

    /// Runs `body` as a program that uses this keychain.
    ///
    /// - Parameter groups: nil for a program without an identity.
    func run<Result>(
        as executable: String = "/usr/bin/example", groups: [String]? = ["G1"], _ body: () async throws -> Result
    ) async rethrows -> Result {
        let identity = CallerIdentity(executable: executable, declaredGroups: groups)
        return try await CallerContext.$current.withValue(
            CallerContext(identity: identity, service: self), operation: body)
    }

    func change(_ body: @Sendable (inout State) -> Void) { state.withLock { body(&$0) } }

    /// The present state.
    var snapshot: State { state.withLock { $0 } }
    var prompts: [Prompt] { snapshot.prompts }

    // MARK: Authentication

    func createContext(from caller: CallerIdentity) throws(KeychainError) -> AuthenticationContextID {
        let id = state.withLock { state -> AuthenticationContextID? in
            state.lastContext += 1
            let bytes = [UInt8](repeating: state.lastContext, count: AuthenticationContextID.length)
            guard let id = AuthenticationContextID(bytes: bytes) else { return nil }
            state.contexts[id] = Context()
            return id
        }
        guard let id else { throw KeychainError(.internalFailure) }
        return id
    }

    func authenticate(
        for target: AuthenticationTarget, in context: AuthenticationContextID, prompt: AuthenticationPrompt,
        from caller: CallerIdentity
    ) throws(KeychainError) {
        guard let known = state.withLock({ $0.contexts[context] }) else { throw Self.unknownContext }
        if case .newItem = target, known.password != nil { return }
        if known.isProven { return }
        let gate = DispatchGate()
        let person = state.withLock { state in
            state.prompts.append(Prompt(target: target, prompt: prompt))
            if case .waits = state.person { state.waiters[context] = gate }
            return state.person
        }
        switch person {
        case .authenticates: state.withLock { $0.contexts[context]?.isProven = true }
        case .fails(let failure): throw .authentication(failure, "the test says \(failure)", hint: "a hint")
        case .waits:
            gate.wait()
            throw Self.unknownContext
        case .ignores(let gate): gate.wait()
        }
    }

    func setApplicationPassword(
        _ password: SharedSecret?, in context: AuthenticationContextID, from caller: CallerIdentity
    ) throws(KeychainError) {
        guard state.withLock({ $0.contexts[context] != nil }) else { throw Self.unknownContext }
        state.withLock { $0.contexts[context]?.password = password }
    }

    func hasApplicationPassword(
        in context: AuthenticationContextID, from caller: CallerIdentity
    ) throws(KeychainError) -> Bool {
        guard let known = state.withLock({ $0.contexts[context] }) else { throw Self.unknownContext }
        return known.password != nil
    }

    func endContext(_ context: AuthenticationContextID, from caller: CallerIdentity) {
        let gate = state.withLock { state in
            state.contexts[context] = nil
            state.endedContexts.append(context)
            return state.waiters.removeValue(forKey: context)
        }
        gate?.open()
    }

    func presenceStatus(at place: PromptPlace, from caller: CallerIdentity) throws(KeychainError) -> PresenceStatus {
        let (status, error) = state.withLock { ($0.status, $0.statusError) }
        if let error { throw error }
        return status
    }

    private static let unknownContext = KeychainError.authentication(.invalidContext, "no such context")

    // MARK: Operations that no test uses

    func perform<Operation: KeychainOperation>(
        _ operation: Operation, from caller: CallerIdentity?, progress: ChangeProgress,
        _ take: ((any ResponseContent) throws(KeychainError) -> Void)?
    ) throws(KeychainError) -> Operation.Answer {
        throw KeychainError(.unimplemented, "the test keychain has no \(Operation.self)")
    }

    func auditLines(after sequence: UInt64, since: Double?, _ body: ([String]) -> Bool) throws(KeychainError) -> UInt64
    {
        throw KeychainError(.unimplemented)
    }
    func addLockObserver(_ body: @escaping @Sendable (LockState) -> Void) -> Int { 0 }
    func removeLockObserver(_ number: Int) {}
    func addChangeObserver(
        _ body: @escaping @Sendable (KeychainChangeEvent) -> Void
    ) throws(KeychainError) -> Int { 0 }
    func removeChangeObserver(_ number: Int) {}
    func restore(
        under passphrase: SharedSecret, passcode: SharedSecret?, merges: Bool, dryRun: Bool, allowsAttestedGroups: Bool,
        from source: @escaping BackupSource, progress: ChangeProgress
    ) throws(KeychainError) -> RestoreReport {
        throw KeychainError(.unimplemented)
    }
    func storeFile(
        _ item: ItemAddition, replaces: Bool, from source: @escaping StoredFileSource, caller: CallerIdentity
    ) throws(KeychainError) { throw KeychainError(.unimplemented) }
    func close() {}
}

// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import KeyServices
import KeychainModel
@_spi(Testing) import LatchkeyClient
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Synchronization

/// A keychain with a person under the control of the test. It keeps contexts and items as latchkeyd does, without
/// encryption.
final class FakeKeychain: ScriptedService {
    /// The person's reaction to a question.
    enum Person: Sendable {
        /// Authenticates as requested.
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

    func answer(
        to operation: any KeychainOperation, from caller: CallerIdentity, _ exchange: Exchange
    ) throws(KeychainError) -> (any ResponseContent)? {
        switch operation {
        case is CreateContext: return ContextHandle(try createContext())
        case let call as Authenticate:
            try authenticate(for: call.target, in: call.context, prompt: call.prompt)
            return Done()
        case let call as SetApplicationPassword:
            try setApplicationPassword(call.password, in: call.context)
            return Done()
        case let call as HasApplicationPassword: return ItemCount(try hasApplicationPassword(in: call.context) ? 1 : 0)
        case let call as EndContext:
            endContext(call.context)
            return Done()
        case is ReadPresence: return try presenceStatus()
        case let call as AddItem: return try add(call.item, from: caller)
        case let call as CopyItems: return FoundItems(try copyMatching(call.query))
        case let call as DeleteItems: return ItemCount(try delete(call.query))
        case let call as GenerateKey: return try generateKey(call.generation, from: caller)
        case let call as UseKey: return try useKey(call)
        default: return nil
        }
    }

    // MARK: Authentication

    private func createContext() throws(KeychainError) -> AuthenticationContextID {
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

    private func authenticate(
        for target: AuthenticationTarget, in context: AuthenticationContextID, prompt: AuthenticationPrompt
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

    private func setApplicationPassword(
        _ password: SharedSecret?, in context: AuthenticationContextID
    ) throws(KeychainError) {
        guard state.withLock({ $0.contexts[context] != nil }) else { throw Self.unknownContext }
        state.withLock { $0.contexts[context]?.password = password }
    }

    private func hasApplicationPassword(
        in context: AuthenticationContextID
    ) throws(KeychainError) -> Bool {
        guard let known = state.withLock({ $0.contexts[context] }) else { throw Self.unknownContext }
        return known.password != nil
    }

    private func endContext(_ context: AuthenticationContextID) {
        let gate = state.withLock { state in
            state.contexts[context] = nil
            state.endedContexts.append(context)
            return state.waiters.removeValue(forKey: context)
        }
        gate?.open()
    }

    private func presenceStatus() throws(KeychainError) -> PresenceStatus {
        let (status, error) = state.withLock { ($0.status, $0.statusError) }
        if let error { throw error }
        return status
    }

    private static let unknownContext = KeychainError.authentication(.invalidContext, "no such context")
}

// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyOperations
internal import LatchkeyService
internal import SecretMemory
import Synchronization

/// A keychain that asks the person before every use of its one item or its one key. It records the authentication that
/// the calls bring, and the questions; the person is a closure.
package final class AskingService: ScriptedService {
    /// A call, with the authentication that it brought.
    package struct Call: Sendable, Equatable {
        package var name: String
        package var authentication: Authentication

        package init(name: String, authentication: Authentication) {
            self.name = name
            self.authentication = authentication
        }
    }

    /// A question to the person.
    package struct Question: Sendable, Equatable {
        package var target: AuthenticationTarget
        package var prompt: AuthenticationPrompt
    }

    private struct State {
        var calls: [Call] = []
        var questions: [Question] = []
        var open: Set<AuthenticationContextID> = []
        var satisfied: Set<AuthenticationContextID> = []
        var additions: [ItemAddition] = []
        var updates: [ItemUpdate] = []
    }

    private let state = Mutex(State())
    private let answer: @Sendable () -> AuthenticationFailure?
    private let isSatisfiable: Bool
    private let refusesOtherCalls: Bool
    private let biometry: PresenceStatus.Biometry

    /// - Parameters:
    ///   - isSatisfiable: false for an access control that no authentication satisfies.
    ///   - refusesOtherCalls: whether the calls that do not ask the person, such as a deletion, need
    ///     it nevertheless.
    ///   - biometry: the biometry that the status reports.
    ///   - answer: how the person answers a question; nil for a successful authentication.
    package init(
        isSatisfiable: Bool = true, refusesOtherCalls: Bool = false, biometry: PresenceStatus.Biometry = .notEnrolled,
        answer: @escaping @Sendable () -> AuthenticationFailure? = { nil }
    ) {
        self.isSatisfiable = isSatisfiable
        self.refusesOtherCalls = refusesOtherCalls
        self.biometry = biometry
        self.answer = answer
    }

    package var calls: [Call] { state.withLock { $0.calls } }
    package var questions: [Question] { state.withLock { $0.questions } }
    /// The number of contexts that have not ended.
    package var openContexts: Int { state.withLock { $0.open.count } }
    package var additions: [ItemAddition] { state.withLock { $0.additions } }
    package var updates: [ItemUpdate] { state.withLock { $0.updates } }

    /// The item, a generic password.
    package let item = ItemRecord(
        identifier: .random(), itemClass: .genericPassword, protection: .whenUnlocked,
        accessGroup: AccessGroup("latchkey.shared", grade: .claimed), created: 0, modified: 0,
        attributes: [.service: .string("S"), .account: .string("A")], accessControlFlags: .userPresence,
        addedBy: "/usr/bin/program", secrets: ItemSecrets(data: SharedSecret(copying: "s3cret".utf8)))

    /// The key. Its public half is the generator of the curve P-256.
    package let key = ItemRecord(
        identifier: .random(), itemClass: .key, protection: .whenUnlocked,
        accessGroup: AccessGroup("latchkey.shared", grade: .claimed), created: 0, modified: 0,
        attributes: [
            .type: .number(KeyType.ellipticCurve.rawValue), .keyClass: .number(KeyHalf.privateKey.rawValue),
            .keySizeInBits: .number(256), .applicationTag: .data(Array("tag".utf8)),
        ], accessControlFlags: [.privateKeyUsage, .userPresence], addedBy: "/usr/bin/program")

    private static let publicKey: [UInt8] = [
        0x04,
        0x6B, 0x17, 0xD1, 0xF2, 0xE1, 0x2C, 0x42, 0x47, 0xF8, 0xBC, 0xE6, 0xE5, 0x63, 0xA4, 0x40, 0xF2,
        0x77, 0x03, 0x7D, 0x81, 0x2D, 0xEB, 0x33, 0xA0, 0xF4, 0xA1, 0x39, 0x45, 0xD8, 0x98, 0xC2, 0x96,
        0x4F, 0xE3, 0x42, 0xE2, 0xFE, 0x1A, 0x7F, 0x9B, 0x8E, 0xE7, 0xEB, 0x4A, 0x7C, 0x0F, 0x9E, 0x16,
        0x2B, 0xCE, 0x33, 0x57, 0x6B, 0x31, 0x5E, 0xCE, 0xCB, 0xB6, 0x40, 0x68, 0x37, 0xBF, 0x51, 0xF5,
    ]

    /// Records a call, and throws unless its context is satisfied.
    private func require(_ name: String, _ authentication: Authentication, for item: ItemRecord) throws(KeychainError) {
        let isSatisfied = state.withLock { state in
            state.calls.append(Call(name: name, authentication: authentication))
            return authentication.context.map(state.satisfied.contains) ?? false
        }
        guard isSatisfied else { throw .authenticationNeeded(for: .item(item.persistentReference)) }
    }
}

extension AskingService {
    package func answer(
        to operation: any KeychainOperation, from caller: CallerIdentity, _ exchange: Exchange
    ) throws(KeychainError) -> (any ResponseContent)? {
        switch operation {
        case is CreateContext: return ContextHandle(try createContext())
        case let call as Authenticate:
            try authenticate(for: call.target, in: call.context, prompt: call.prompt)
            return Done()
        case is SetApplicationPassword: return Done()
        case is HasApplicationPassword: return ItemCount(0)
        case let call as EndContext:
            endContext(call.context)
            return Done()
        case is ReadPresence: return presenceStatus()
        case let call as AddItem: return try add(call.item)
        case let call as StoreItem: return try store(call)
        case let call as CopyItems: return FoundItems(try copyMatching(call.query))
        case is CopyIdentities: return FoundIdentities([])
        case let call as UpdateItems: return ItemCount(try update(call.query, with: call.update))
        case let call as DeleteItems: return ItemCount(try delete(call.query))
        case let call as GenerateKey: return try generateKey(call.generation)
        case let call as ReadPublicKey: return try publicKey(of: call.reference)
        case let call as UseKey: return try useKey(call.authentication ?? Authentication())
        case let call as ExportKey: return try exportKey(call.authentication ?? Authentication())
        case is ReadStatus:
            return KeychainStatus(
                mode: .user, root: .file, databasePath: "/data/keychain.db", deviceKeyPath: "/state/device.key",
                formatVersion: 3, hasPasscode: true, counts: [], quarantined: 0)
        case is ReadLockStatus:
            return LockStatus(
                state: .unlocked, hasPasscode: true, hasRecoveryKey: false, settings: KeybagSettings(),
                open: Set(ProtectionClass.allCases))
        default: return nil
        }
    }
}

// MARK: Contexts

extension AskingService {
    private func createContext() throws(KeychainError) -> AuthenticationContextID {
        guard let context = AuthenticationContextID(bytes: ItemIdentifier.random().bytes) else { throw .notAvailable }
        state.withLock { _ = $0.open.insert(context) }
        return context
    }

    private func authenticate(
        for target: AuthenticationTarget, in context: AuthenticationContextID, prompt: AuthenticationPrompt
    ) throws(KeychainError) {
        let isOpen = state.withLock { state in
            state.questions.append(Question(target: target, prompt: prompt))
            return state.open.contains(context)
        }
        guard isOpen else { throw .authentication(.invalidContext, "the context has ended") }
        if let failure = answer() { throw .authentication(failure, "the person did not authenticate") }
        if isSatisfiable { state.withLock { _ = $0.satisfied.insert(context) } }
    }

    private func endContext(_ context: AuthenticationContextID) {
        state.withLock { state in
            state.open.remove(context)
            state.satisfied.remove(context)
        }
    }

    private func presenceStatus() -> PresenceStatus {
        PresenceStatus(
            methods: [
                PresenceStatus.Method(name: "pinentry", factors: ["the passcode"]),
                PresenceStatus.Method(
                    name: "fprintd", factors: ["any enrolled finger"], problem: "no finger is enrolled",
                    hint: "fprintd-enroll"),
            ], hasPasscode: true, biometry: biometry, securityKeys: 1)
    }
}

// MARK: Items

extension AskingService {
    private func add(_ item: ItemAddition) throws(KeychainError) -> ItemRecord {
        state.withLock { $0.additions.append(item) }
        try require("add", item.authentication, for: self.item)
        return self.item
    }

    /// A call with an update replaces the item. Protection class and access control change together, as in the service.
    private func store(_ call: StoreItem) throws(KeychainError) -> StoredRecord {
        guard var update = call.update else { return StoredRecord(try add(call.item), isReplacement: false) }
        if update.protection != nil { update.accessControlFlags = update.accessControlFlags ?? item.accessControlFlags }
        if update.accessControlFlags != nil { update.protection = update.protection ?? item.protection }
        try require("update", call.item.authentication, for: item)
        let complete = update
        state.withLock { $0.updates.append(complete) }
        return StoredRecord(item, isReplacement: true)
    }

    private func copyMatching(_ query: ItemQuery) throws(KeychainError) -> ItemMatches {
        let found = query.itemClass == .key ? key : item
        guard query.itemClass == found.itemClass || query.persistentReference == found.persistentReference else {
            return ItemMatches(records: [], damaged: 0)
        }
        do throws(KeychainError) {
            try require("copy", query.authentication, for: found)
        } catch {
            guard query.authentication.interaction == .skip else { throw error }
            return ItemMatches(records: [], damaged: 0)
        }
        return ItemMatches(records: [found], damaged: 0)
    }

    private func update(_ query: ItemQuery, with update: ItemUpdate) throws(KeychainError) -> Int {
        try require("update", query.authentication, for: item)
        state.withLock { $0.updates.append(update) }
        return 1
    }

    private func delete(_ query: ItemQuery) throws(KeychainError) -> Int {
        state.withLock { $0.calls.append(Call(name: "delete", authentication: query.authentication)) }
        if refusesOtherCalls { throw .authenticationNeeded(for: .item(item.persistentReference)) }
        return 1
    }
}

// MARK: Keys

extension AskingService {
    private func generateKey(_ generation: KeyGeneration) throws(KeychainError) -> GeneratedKey {
        state.withLock { $0.additions.append(generation.privateHalf) }
        try require("generateKey", generation.privateHalf.authentication, for: key)
        return GeneratedKey(privateHalf: key, publicHalf: nil, publicKey: Self.publicKey)
    }

    private func publicKey(of reference: PersistentReference) throws(KeychainError) -> PublicKeyInfo {
        if refusesOtherCalls { throw .authenticationNeeded(for: .item(reference)) }
        return PublicKeyInfo(KeyKind(.ellipticCurve, bits: 256), half: .privateKey, publicKey: Self.publicKey)
    }

    private func useKey(_ authentication: Authentication) throws(KeychainError) -> KeyOutput {
        try require("useKey", authentication, for: key)
        return KeyOutput(
            SharedSecret(copying: [0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01]), from: key.accessGroup)
    }

    private func exportKey(_ authentication: Authentication) throws(KeychainError) -> KeyOutput {
        try require("exportKey", authentication, for: key)
        return KeyOutput(SharedSecret(copying: [1, 2, 3]), from: key.accessGroup)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SystemBus

/// A connection that calls the service, and the program at its other end.
struct SecretReader: Sendable {
    let connection: BusName
    let program: CallerIdentity

    /// nil for a program with an unknown executable.
    var path: ProgramPath? { ProgramPath(program.executable) }
}

/// The decision whether a program reads an item without a question, if the person wants questions.
///
/// It guards against mistakes and isolates nothing: /proc reports the path of the executable, any program of the user
/// can run another one, and all of them can read the keychain without this service.
final class ReadingConsent: Sendable {
    /// The rules that the store has recorded.
    private struct Rules {
        let mode: ConsentMode
        let consents: Set<Consent>
    }

    private struct State {
        var rules: Rules?
        /// Distinguishes the rules that were read before a change from those after it.
        var generation: UInt64 = 0
        /// Whether changes are reported, so that the rules can be kept.
        var isObserved = false
        /// The person's answers about items, as long as the connection lasts.
        var answers: [BusName: [ItemReference: Bool]] = [:]
    }

    private let store: any SecretStore
    private let consents: (any ConsentStore)?
    private let state = SystemMutex(State())

    /// - Parameter consents: nil for no questions.
    init(_ store: any SecretStore, _ consents: (any ConsentStore)?) {
        (self.store, self.consents) = (store, consents)
    }

    // MARK: Deciding

    /// Whether the person must be asked before the program reads the item; also for a locked item, with unknown
    /// creators.
    ///
    /// - Throws: ``SecretStoreError/notFound``.
    func isNeeded(for item: ItemReference, by reader: SecretReader) throws(SecretStoreError) -> Bool {
        if isAllowed(item, reader, by: try rules()) { return false }
        return try isNeeded(for: try store.item(item), by: reader)
    }

    func isNeeded(for item: SecretItem, by reader: SecretReader) throws(SecretStoreError) -> Bool {
        let rules = try rules()
        if isAllowed(item.reference, reader, by: rules) { return false }
        guard let path = reader.path, rules.mode == .creator else { return true }
        return !item.creators.contains(path)
    }

    /// Returns the items that were found and are open to the program, and the paths of the others. Of a
    /// long list, the creators of the first items are looked up; the rest counts as locked until it is
    /// unlocked.
    func divide(
        _ found: [FoundItem], for reader: SecretReader
    ) throws(SecretStoreError) -> (open: [ItemReference], locked: [ItemReference]) {
        var (open, locked): ([ItemReference], [ItemReference]) = ([], [])
        var lookups = 0
        let rules = try rules()
        for item in found {
            if item.isLocked {
                locked.append(item.reference)
            } else if isAllowed(item.reference, reader, by: rules) {
                open.append(item.reference)
            } else if lookups < Self.maxLookups, try isMade(item.reference, by: reader, rules, counting: &lookups) {
                open.append(item.reference)
            } else {
                locked.append(item.reference)
            }
        }
        return (open, locked)
    }

    /// Whether the person has refused the program one of the items since it has connected.
    func isRefused(_ items: [ItemReference], by reader: SecretReader) -> Bool {
        let answers = state.withLock { $0.answers[reader.connection] } ?? [:]
        return items.contains { answers[$0] == false }
    }

    /// Whether the program needs no question, for an item of any creator.
    private func isAllowed(_ item: ItemReference, _ reader: SecretReader, by rules: Rules) -> Bool {
        guard rules.mode != .never else { return true }
        if state.withLock({ $0.answers[reader.connection]?[item] }) == true { return true }
        guard let path = reader.path else { return false }
        return rules.consents.contains(Consent(path, .everyItem))
            || rules.consents.contains(Consent(path, .item(item.item.bytes)))
    }

    private func isMade(
        _ item: ItemReference, by reader: SecretReader, _ rules: Rules, counting lookups: inout Int
    ) throws(SecretStoreError) -> Bool {
        guard let path = reader.path, rules.mode == .creator else { return false }
        lookups += 1
        do throws(SecretStoreError) {
            return try store.item(item).creators.contains(path)
        } catch .notFound {
            return false
        } catch {
            throw error
        }
    }

    // MARK: Answers

    /// Lets the program read the items as long as its connection lasts.
    func allow(_ items: [ItemReference], to reader: SecretReader) { remember(true, items, reader) }

    /// Lets the program read the items for good.
    func keep(_ items: [ItemReference], for reader: SecretReader) throws(SecretStoreError) {
        guard let path = reader.path, let consents else { return allow(items, to: reader) }
        // An item in memory is gone before the consent would be used.
        allow(items.filter { $0.collection == .session }, to: reader)
        let kept = items.filter { $0.collection != .session }
        try consents.keep(kept.map { Consent(path, .item($0.item.bytes)) })
        invalidate()
    }

    /// Whether an answer about so many items can be kept for good.
    func canKeep(_ items: [ItemReference], for reader: SecretReader) -> Bool {
        reader.path != nil && items.count <= Self.maxKept
    }

    /// Does not ask again as long as the connection lasts.
    func refuse(_ items: [ItemReference], to reader: SecretReader) { remember(false, items, reader) }

    private func remember(_ isAllowed: Bool, _ items: [ItemReference], _ reader: SecretReader) {
        guard !items.isEmpty else { return }
        state.withLock { state in
            var answers = state.answers[reader.connection] ?? [:]
            // The person has answered that often; it begins anew.
            if answers.count > Self.maxAnswers { answers = [:] }
            for item in items { answers[item] = isAllowed }
            state.answers[reader.connection] = answers
        }
    }

    /// Forgets the answers for a connection that has ended.
    func endAll(of connection: BusName) { state.withLock { $0.answers[connection] = nil } }

    // MARK: Rules

    /// Runs `body`; its reads may see the store as it is now, despite changes meanwhile.
    func noting<Value>(
        _ body: () throws(SecretStoreError) -> Value
    ) throws(SecretStoreError) -> Value {
        try Self.$noted.withValue(state.withLock { $0.generation }) {
            Result { () throws(SecretStoreError) in try body() }
        }.get()
    }

    /// The generation of the oldest rules that the store may have for this thread; nil for the present one.
    @TaskLocal private static var noted: UInt64?

    /// Reads the rules, unless they are known and have not changed.
    private func rules() throws(SecretStoreError) -> Rules {
        guard let consents else { return Rules(mode: .never, consents: []) }
        let (known, present) = state.withLock { ($0.rules, $0.generation) }
        if let known { return known }
        let generation = Self.noted ?? present
        let mode = try consents.consentMode()
        let rules = Rules(mode: mode, consents: mode == .never ? [] : try consents.consents())
        state.withLock { state in
            if state.isObserved, state.generation == generation { state.rules = rules }
        }
        return rules
    }

    /// Reads the rules again when they are needed: the store has changed.
    func invalidate() {
        state.withLock { state in
            state.rules = nil
            state.generation &+= 1
        }
    }

    /// From now on, ``invalidate()`` is called after every change.
    func startKeepingRules() { state.withLock { $0.isObserved = true } }

    /// How many items of a search are looked up for their creators.
    private static let maxLookups = 1000
    /// How many items one answer can be kept for.
    private static let maxKept = 64
    private static let maxAnswers = 65_536
}

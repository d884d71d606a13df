// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import Logging
internal import SystemBus

/// Locking, unlocking, and the prompts for it.
extension SecretServer {
    /// The paths that are locked now, and whether each collection is.
    private struct LockProgress {
        var locked: [ObjectPath] = []
        var collections: [CollectionName: Bool] = [:]
    }

    /// Answers with the paths that are locked now: none if there is no passcode.
    func lock(_ paths: [ObjectPath], _ call: BusMethodCall) -> FairCalls.Step {
        PathTurns(
            paths, of: call, LockProgress(), each: { [self] path, progress in lock(path, &progress) },
            finish: { progress in [progress.locked.busValue, .objectPath(.absent)] }
        ).step
    }

    /// Locks every collection.
    func lockAll(_ call: BusMethodCall) throws(BusFailure) -> FairCalls.Step {
        let all = try BusFailure.mapErrors(call.path) { () throws(SecretStoreError) in try store.collections() }
        return PathTurns(
            all.map(\.name.path), of: call, LockProgress(),
            each: { [self] path, progress in lock(path, &progress) }, finish: { _ in [] }
        ).step.kept
    }

    /// Locks the collection of a path; an item is locked with its collection.
    private func lock(_ path: ObjectPath, _ progress: inout LockProgress) {
        do throws(SecretStoreError) {
            guard let target = try target(path) else { return }
            if progress.collections[target.collection] == nil {
                progress.collections[target.collection] = try lock(target.collection)
            }
            if progress.collections[target.collection] == true { progress.locked.append(path) }
        } catch {
            log.notice("a collection was not locked", metadata: ["reason": "\(error)"])
        }
    }

    private func lock(_ collection: CollectionName) throws(SecretStoreError) -> Bool {
        if try !store.collection(collection).isLocked { try store.lock(collection) }
        return try store.collection(collection).isLocked
    }

    /// The paths of a call, by the action that they need.
    private struct UnlockProgress {
        var unlocked: [ObjectPath] = []
        var locked: [ObjectPath] = []
        var collections: [CollectionName] = []
        var items: [ItemReference] = []

        mutating func add(_ path: ObjectPath, _ state: TargetState) {
            guard state.isLocked || state.needsConsent else { return unlocked.append(path) }
            locked.append(path)
            if state.isLocked, !collections.contains(state.collection) { collections.append(state.collection) }
            if state.needsConsent, let item = state.item { items.append(item) }
        }
    }

    /// Answers with the paths that are open to the program, and with a prompt for the others. Objects that
    /// do not exist are left out.
    func unlock(_ paths: [ObjectPath], _ call: BusMethodCall) -> FairCalls.Step {
        let reader = reader(call.sender)
        return PathTurns(
            paths, of: call, UnlockProgress(),
            each: { [self] (path, progress) throws(BusFailure) in
                if let state = try state(of: path, reader) { progress.add(path, state) }
            },
            finish: { [self] (progress) throws(BusFailure) in
                [progress.unlocked.busValue, .objectPath(try prompt(for: progress, call, reader))]
            }
        ).step
    }

    private func prompt(
        for progress: UnlockProgress, _ call: BusMethodCall, _ reader: SecretReader
    ) throws(BusFailure) -> ObjectPath {
        let (waiting, asked) = (progress.locked, progress.items)
        guard !waiting.isEmpty else { return .absent }
        var steps: [PromptStep] = []
        if !progress.collections.isEmpty { steps.append(try unlockStep(progress.collections, reader)) }
        if !asked.isEmpty { steps.append(consentStep(asked, reader)) }
        let content = PromptContent(steps: steps, paths: waiting.count) { [weak self] isAgreed in
            let opened = isAgreed ? self?.unlocked(of: waiting, reader) ?? [] : []
            return PromptResult(isDismissed: !isAgreed, value: opened.busValue)
        }
        return try prompts.create(content, for: call.caller)
    }

    /// Returns the paths that are open now. Of the first items, the program is told the properties before it
    /// is told that they are open: libsecret has read them while they were locked, and does not read them again.
    private func unlocked(of paths: [ObjectPath], _ reader: SecretReader) -> [ObjectPath] {
        var opened: [ObjectPath] = []
        for path in paths {
            guard let state = try? state(of: path, reader), !state.isLocked, !state.needsConsent else { continue }
            opened.append(path)
            guard let found = state.found, opened.count <= SecretLimits.maxAnnouncedItems else { continue }
            signals.itemUnlocked(found, to: reader.connection)
        }
        return opened
    }

    /// Whether an object of the service is open to a program.
    private struct TargetState {
        let collection: CollectionName
        /// The item; nil for a collection.
        var found: SecretItem?
        var item: ItemReference? { found?.reference }
        let isLocked: Bool
        /// Whether the person must be asked before the program reads the item.
        var needsConsent = false
    }

    /// Returns nil if there is no such object.
    private func state(of path: ObjectPath, _ reader: SecretReader) throws(BusFailure) -> TargetState? {
        do throws(SecretStoreError) {
            guard let target = try target(path) else { return nil }
            guard let item = target.item else {
                return TargetState(
                    collection: target.collection, isLocked: try store.collection(target.collection).isLocked)
            }
            let found = try self.item(ItemReference(target.collection, item))
            return TargetState(
                collection: target.collection, found: found, isLocked: found.isLocked,
                needsConsent: try consent.isNeeded(for: found, by: reader))
        } catch .notFound {
            return nil
        } catch {
            throw BusFailure(error, path)
        }
    }

    // MARK: Prompts

    /// Creates a prompt that unlocks collections.
    func prompt(
        for collections: [CollectionName], _ call: BusMethodCall,
        finish: @escaping @Sendable (Bool) -> PromptResult
    ) throws(BusFailure) -> ObjectPath {
        let content = PromptContent(steps: [try unlockStep(collections, reader(call.sender))], finish: finish)
        return try prompts.create(content, for: call.caller)
    }

    /// Asks for the passcodes of collections, one keychain after the other.
    private func unlockStep(
        _ collections: [CollectionName], _ reader: SecretReader
    ) throws(BusFailure) -> PromptStep {
        guard let first = collections.first else { throw .failed("there is no collection to unlock") }
        let (store, askers, log) = (store, askers, log)
        return PromptStep(
            key: .passcode(try domain(of: first)),
            ask: { window, cancellation in
                collections.allSatisfy { collection in
                    UnlockQuestion(
                        store: store, askers: askers, log: log, collection: collection, program: reader.program,
                        window: window
                    ).ask(cancellation)
                }
            })
    }

    /// Asks whether the program may read the items.
    private func consentStep(_ items: [ItemReference], _ reader: SecretReader) -> PromptStep {
        let (store, consent, askers, log) = (store, consent, askers, log)
        return PromptStep(
            key: .consent(reader.connection, items),
            ask: { window, cancellation in
                ConsentQuestion(
                    store: store, consent: consent, askers: askers, log: log, items: items, reader: reader,
                    window: window
                ).ask(cancellation)
            })
    }

    /// Creates a prompt that changes the passcode of a collection.
    func passcodeChange(of path: ObjectPath, _ call: BusMethodCall) throws(BusFailure) -> ObjectPath {
        guard case .collection(let selector)? = SecretPath(path) else { throw .noSuchObject(path) }
        let name = try collection(selector, path)
        let domain = try domain(of: name)
        let (store, askers, log, program) = (store, askers, log, caller(call.sender))
        let step = PromptStep(
            key: .newPasscode(domain),
            ask: { window, cancellation in
                UnlockQuestion(
                    store: store, askers: askers, log: log, collection: name, program: program, window: window
                ).change(cancellation)
            })
        let content = PromptContent(steps: [step]) { PromptResult(isDismissed: !$0, value: .string("")) }
        return try prompts.create(content, for: call.caller)
    }

    private func domain(of collection: CollectionName) throws(BusFailure) -> LockDomain {
        try BusFailure.mapErrors(collection.path) { () throws(SecretStoreError) in
            _ = try store.collection(collection)
            return try store.lockDomain(of: collection)
        }
    }
}

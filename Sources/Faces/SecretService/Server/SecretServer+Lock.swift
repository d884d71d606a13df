// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import Logging
internal import SystemBus

/// Locking, unlocking, and the prompts for it.
extension SecretServer {
    /// Locks the collections of the paths; an item is locked with its collection.
    ///
    /// - Returns: the paths that are locked now: none if there is no passcode.
    func lock(_ paths: [ObjectPath]) -> [ObjectPath] {
        var locked: [ObjectPath] = []
        for path in paths {
            do throws(SecretStoreError) {
                guard let target = try target(path) else { continue }
                if try !store.collection(target.collection).isLocked { try store.lock(target.collection) }
                if try store.collection(target.collection).isLocked { locked.append(path) }
            } catch {
                log.notice("a collection was not locked", metadata: ["reason": "\(error)"])
            }
        }
        return locked
    }

    /// Answers with the paths that are unlocked, and with a prompt for the others. Objects that do not
    /// exist are left out.
    func unlock(_ paths: [ObjectPath], _ call: BusMethodCall) throws(BusFailure) -> [BusValue] {
        var unlocked: [ObjectPath] = []
        var locked: [ObjectPath] = []
        var collections: [CollectionName] = []
        for path in paths {
            guard let state = try lockState(path) else { continue }
            guard state.isLocked else {
                unlocked.append(path)
                continue
            }
            locked.append(path)
            if !collections.contains(state.collection) { collections.append(state.collection) }
        }
        guard !locked.isEmpty else { return [unlocked.busValue, .objectPath(.absent)] }
        let waiting = locked
        let prompt = try prompt(for: collections, call) { [weak self] isAgreed in
            let opened = isAgreed ? self?.unlocked(of: waiting) ?? [] : []
            return PromptResult(isDismissed: !isAgreed, value: opened.busValue)
        }
        return [unlocked.busValue, .objectPath(prompt)]
    }

    private func unlocked(of paths: [ObjectPath]) -> [ObjectPath] {
        paths.filter { path in
            guard let state = try? lockState(path) else { return false }
            return !state.isLocked
        }
    }

    /// Returns the collection of a path, and whether the object is locked; nil if there is no such
    /// object.
    private func lockState(
        _ path: ObjectPath
    ) throws(BusFailure) -> (collection: CollectionName, isLocked: Bool)? {
        do throws(SecretStoreError) {
            guard let target = try target(path) else { return nil }
            guard let item = target.item else {
                return (collection: target.collection, isLocked: try store.collection(target.collection).isLocked)
            }
            let isLocked = try store.item(ItemReference(target.collection, item)).isLocked
            return (collection: target.collection, isLocked: isLocked)
        } catch .notFound {
            return nil
        } catch {
            throw BusFailure(error, path)
        }
    }

    // MARK: Prompts

    /// Creates a prompt that unlocks collections, one keychain after the other.
    func prompt(
        for collections: [CollectionName], _ call: BusMethodCall,
        finish: @escaping @Sendable (Bool) -> PromptResult
    ) throws(BusFailure) -> ObjectPath {
        guard let first = collections.first else { throw .failed("there is no collection to unlock") }
        let domain = try domain(of: first)
        let (store, askers, log, program) = (store, askers, log, caller(call.sender))
        let content = PromptContent(
            key: .passcode(domain),
            ask: { window, cancellation in
                collections.allSatisfy { collection in
                    UnlockQuestion(
                        store: store, askers: askers, log: log, collection: collection, program: program,
                        window: window
                    ).ask(cancellation)
                }
            }, finish: finish)
        return try prompts.create(content, for: call.sender)
    }

    /// Creates a prompt that changes the passcode of a collection.
    func passcodeChange(of path: ObjectPath, _ call: BusMethodCall) throws(BusFailure) -> ObjectPath {
        guard case .collection(let selector)? = SecretPath(path) else { throw .noSuchObject(path) }
        let name = try collection(selector, path)
        let domain = try domain(of: name)
        let (store, askers, log, program) = (store, askers, log, caller(call.sender))
        let content = PromptContent(
            key: .newPasscode(domain),
            ask: { window, cancellation in
                UnlockQuestion(
                    store: store, askers: askers, log: log, collection: name, program: program, window: window
                ).change(cancellation)
            }, finish: { PromptResult(isDismissed: !$0, value: .string("")) })
        return try prompts.create(content, for: call.sender)
    }

    private func domain(of collection: CollectionName) throws(BusFailure) -> LockDomain {
        try BusFailure.mapErrors(collection.path) { () throws(SecretStoreError) in
            _ = try store.collection(collection)
            return try store.lockDomain(of: collection)
        }
    }
}

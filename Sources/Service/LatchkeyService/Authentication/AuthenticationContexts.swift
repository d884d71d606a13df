// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainStore
internal import LinuxSystem

/// The authentication contexts of a keychain. Each can be used only by the process that created it.
final class AuthenticationContexts: Sendable {
    /// A caller's process; nil for this process.
    typealias Owner = CallerIdentity.ProcessIdentity?

    private struct Entry {
        let owner: Owner
        let context: ProvenContext
    }

    private let entries = SystemMutex<[AuthenticationContextID: Entry]>([:])

    /// Adds a context, and returns its handle.
    ///
    /// - Throws: errSecAllocate if the process, or all processes together, have too many.
    func add(_ context: ProvenContext, of owner: Owner) throws(KeychainError) -> AuthenticationContextID {
        guard let id = AuthenticationContextID(bytes: RandomBytes.array(count: AuthenticationContextID.length)) else {
            throw KeychainError(.internalFailure)
        }
        try add(context, as: id, of: owner)
        return id
    }

    /// Adds a context with the handle that another keychain has given it; it does nothing if the
    /// handle is known.
    func add(_ context: ProvenContext, as id: AuthenticationContextID, of owner: Owner) throws(KeychainError) {
        let isAdded = entries.withLock { entries in
            guard entries[id] == nil else { return true }
            let own = entries.values.count { $0.owner == owner }
            guard own < Self.maxOfProcess, entries.count < Self.maxCount else { return false }
            entries[id] = Entry(owner: owner, context: context)
            return true
        }
        guard isAdded else {
            throw KeychainError(
                .allocate, "too many authentication contexts are open; a process may have \(Self.maxOfProcess)",
                hint: "invalidate contexts that are not needed any more")
        }
    }

    /// Returns the context of a handle.
    ///
    /// - Throws: an error with ``AuthenticationFailure/invalidContext`` for a handle that is unknown
    ///   or belongs to another process.
    func context(_ id: AuthenticationContextID, of owner: Owner) throws(KeychainError) -> ProvenContext {
        guard let entry = entries.withLock({ $0[id] }), entry.owner == owner else {
            throw .authentication(
                .invalidContext, "the authentication context does not exist, or belongs to another process",
                hint: "create a new context")
        }
        return entry.context
    }

    /// Removes a context of this owner.
    func remove(_ id: AuthenticationContextID, of owner: Owner) {
        let removed = entries.withLock { entries -> Entry? in
            guard entries[id]?.owner == owner else { return nil }
            return entries.removeValue(forKey: id)
        }
        removed?.context.end()
    }

    /// Removes all contexts of an owner.
    func removeAll(of owner: CallerIdentity.ProcessIdentity) {
        let removed = entries.withLock { entries in
            let own = entries.filter { $0.value.owner == owner }
            for id in own.keys { entries[id] = nil }
            return own
        }
        for entry in removed.values { entry.context.end() }
    }

    /// Removes every context, because the keychain is closed.
    func removeAll() {
        let removed = entries.withLock { entries in
            let all = entries
            entries = [:]
            return all
        }
        for entry in removed.values { entry.context.end() }
    }

    var count: Int { entries.withLock { $0.count } }

    static let maxOfProcess = 64
    private static let maxCount = 4096
}

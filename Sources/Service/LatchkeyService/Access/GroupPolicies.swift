// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
internal import KeychainStore
internal import LinuxSystem

/// The policies of access groups: in a guarded group, every secret requires the person.
///
/// The policy of a group is an item without data in the group ``AccessGroup/policies``, with the name of the group as its
/// account; `latchkey policy` stores it. It is enforced by the access control of each item of the group.
package struct GroupPolicies: Sendable {
    let keychain: OpenKeychain

    init(keychain: OpenKeychain) { self.keychain = keychain }

    /// The guarded groups at a time.
    struct Known: Sendable {
        let groups: Set<String>
        /// In nanoseconds since boot.
        let readAt: UInt64
    }

    /// How long a process uses the policies that it has read, in nanoseconds: reading them for each item would cost more
    /// than everything else that is decided about it. Who changes a policy waits for this time.
    package static let lifetime: UInt64 = 1_000_000_000

    /// The names of the guarded groups, all of them claimed. A change is seen within ``lifetime``.
    func guardedGroups() throws(KeychainError) -> Set<String> {
        let now = BootClock.system.now()
        if let known = keychain.knownPolicies.withLock({ $0 }), now >= known.readAt, now - known.readAt < Self.lifetime
        {
            return known.groups
        }
        let groups = try read()
        keychain.knownPolicies.withLock { $0 = Known(groups: groups, readAt: now) }
        return groups
    }

    private func read() throws(KeychainError) -> Set<String> {
        let store = keychain.store
        // Most keychains have no policy: a search of the index is enough.
        let hasPolicies = try withErrors(as: KeychainError.init) { () throws(StoreError) in
            try store.hasItems(.genericPassword, in: .policies)
        }
        guard hasPolicies else { return [] }
        return try keychain.run { () throws(StoreError) -> Set<String> in
            let search = ItemSearch(.genericPassword, groups: .only([.policies]), synchronizable: .any)
            let found = try store.search(search, limit: nil, withSecrets: false)
            guard found.locked.isEmpty, found.damaged.isEmpty else { throw .refused(Self.unreadable) }
            return Set(found.records.compactMap { $0[.account]?.text })
        }
    }

    /// Gives an item of a guarded group the access control `userPresence`, unless it has one with constraints.
    static func apply(_ guarded: Set<String>, to record: inout ItemRecord) {
        let group = record.accessGroup
        guard !guarded.isEmpty, group.grade == .claimed, guarded.contains(group.name), record.isGuardable,
            record.accessControlFlags?.hasConstraints != true
        else { return }
        let usage: AccessControlFlags = record.itemClass == .key ? .privateKeyUsage : []
        record.accessControlFlags = usage.union(.userPresence)
    }

    private static let unreadable = KeychainError(
        .decode, "a policy of the access groups cannot be read", hint: "latchkey doctor; latchkey policy list")
}

extension ItemRecord {
    /// Whether the item has a secret: certificates and public keys have none.
    package var isGuardable: Bool {
        switch itemClass {
        case .genericPassword, .internetPassword: true
        case .key: self[.keyClass] != .number(KeyHalf.publicKey.rawValue)
        case .certificate, .identity: false
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService

/// The policies of access groups in a keychain: every secret of a guarded group requires the person.
///
/// A policy is an item in the group ``AccessGroup/policies``. The keychain gives each new and changed item of a guarded
/// group the access control `userPresence`; ``guardItem(_:)`` does it for those that exist.
public struct KeychainPolicies: Sendable {
    private let keychain: KeychainSession

    public init(_ keychain: KeychainSession) { self.keychain = keychain }

    /// Returns the names of the guarded groups, sorted.
    public func guardedGroups() throws(KeychainError) -> [String] {
        let found = try keychain.copyMatching(Self.query(nil), returning: .attributes)
        return found.records.compactMap { $0[.account]?.text }.sorted()
    }

    /// Makes a group a guarded one, unless it is one; not its items. When this returns, every process knows it.
    public func add(_ group: String) throws(KeychainError) {
        var attributes = Self.query(group).attributes
        attributes[.label] = .string("Presence for \(group)")
        var item = ItemAddition(
            .genericPassword, attributes: attributes, accessGroup: AccessGroup.policies.name, protection: .always,
            authentication: Authentication(.fail))
        do throws(KeychainError) {
            do throws(KeychainError) { _ = try keychain.add(item) } catch {
                // The administrator allows no class that is always open.
                guard error.status == .param else { throw error }
                item.protection = .afterFirstUnlock
                _ = try keychain.add(item)
            }
        } catch {
            guard error.status == .duplicateItem else { throw error }
        }
        // Also for a group that a command which was interrupted has just made one.
        Self.awaitProcesses()
    }

    /// Ends the policy of a group. Its items keep their access controls.
    ///
    /// - Throws: errSecItemNotFound if the group is not guarded.
    public func remove(_ group: String) throws(KeychainError) {
        guard try keychain.delete(Self.query(group)) > 0 else {
            throw KeychainError(
                .itemNotFound, "the access group '\(group)' has no policy", hint: "latchkey policy list")
        }
        Self.awaitProcesses()
    }

    /// Waits until no process uses the policies that it has read before.
    private static func awaitProcesses() { usleep(UInt32(GroupPolicies.lifetime / 1000) + 50_000) }

    /// Returns the items of a group that have a secret and do not require the person.
    ///
    /// - Throws: errSecInteractionNotAllowed while a class of them is closed.
    public func unguardedItems(in group: String) throws(KeychainError) -> [ItemRecord] {
        var found: [ItemRecord] = []
        for itemClass in [ItemClass.genericPassword, .internetPassword, .key] {
            let query = ItemQuery(
                itemClass, accessGroup: group, synchronizable: .any, limit: .all, authentication: Authentication(.skip))
            found += try keychain.copyMatching(query, returning: [.attributes, .persistentReference]).records
        }
        return found.filter { $0.isGuardable && $0.accessControlFlags?.hasConstraints != true }
    }

    /// Gives an item of a guarded group its access control.
    ///
    /// - Returns: whether the item was there.
    /// - Throws: errSecParam for an item that can be synchronized: it can have no access control.
    public func guardItem(_ item: ItemRecord) throws(KeychainError) -> Bool {
        let query = ItemQuery(
            item.itemClass, synchronizable: .any, persistentReference: item.persistentReference,
            authentication: Authentication(.fail))
        // The keychain adds the access control to every changed item.
        return try keychain.update(query, with: ItemUpdate()) > 0
    }

    private static func query(_ group: String?) -> ItemQuery {
        var attributes: [ItemAttribute: AttributeValue] = [.service: .string("latchkey.policy")]
        if let group { attributes[.account] = .string(group) }
        return ItemQuery(.genericPassword, attributes: attributes, accessGroup: AccessGroup.policies.name, limit: .all)
    }
}

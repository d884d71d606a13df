// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SystemBus

/// The metadata of items that were open since the service was started. It is shown after a lock as well: a
/// program that finds two locked items must tell them apart, and every program of the user could read it
/// before. It is in memory only, of at most ``maxCount`` items, and ends with the service.
final class KnownItems: Sendable {
    private struct State {
        var metadata: [ItemReference: SecretItemMetadata] = [:]
        var length = 0
    }

    private let state = SystemMutex(State())

    /// Returns the item with the metadata that it had when it was open, and remembers that of an open one.
    func completed(_ item: SecretItem) -> SecretItem {
        guard item.isLocked else {
            remember([item])
            return item
        }
        var known = item
        known.metadata = state.withLock { $0.metadata[item.reference] }
        return known
    }

    /// Remembers open items. What exceeds the limits is not known after a lock.
    func remember(_ items: [SecretItem]) {
        state.withLock { state in
            for item in items {
                guard let metadata = item.metadata, !item.isLocked else { continue }
                Self.remove(item.reference, from: &state)
                guard state.metadata.count < Self.maxCount, state.length + metadata.length <= Self.maxLength
                else { continue }
                state.metadata[item.reference] = metadata
                state.length += metadata.length
            }
        }
    }

    /// Remembers all items of a collection, and forgets those that it does not have any more.
    func renew(_ collection: CollectionName, _ items: [SecretItem]) {
        let present = Set(items.map(\.reference))
        state.withLock { state in
            for reference in state.metadata.keys
            where reference.collection == collection && !present.contains(reference) {
                Self.remove(reference, from: &state)
            }
        }
        remember(items)
    }

    private static func remove(_ item: ItemReference, from state: inout State) {
        guard let metadata = state.metadata.removeValue(forKey: item) else { return }
        state.length -= metadata.length
    }

    static let maxCount = 8192
    /// The maximum length of all texts, in bytes.
    static let maxLength = 4 << 20
}

extension SecretServer {
    /// Returns an item, also a locked one as it is known.
    func item(_ reference: ItemReference) throws(SecretStoreError) -> SecretItem {
        known.completed(try store.item(reference))
    }
}

extension SecretItem {
    /// The properties of the item as far as they are known. What is not known is left out, except for the
    /// label, which python-secretstorage reads to find out whether an item exists.
    ///
    /// - Parameter isLocked: whether the program that reads them cannot read the secret.
    func properties(isLocked: Bool) -> [String: BusVariant] {
        guard let metadata else { return ["Locked": BusVariant(isLocked), "Label": BusVariant(Self.lockedLabel)] }
        return [
            "Label": BusVariant(metadata.label), "Locked": BusVariant(isLocked),
            "Attributes": BusVariant(metadata.attributes.busValue), "Type": BusVariant(metadata.attributes.schema),
            "Created": BusVariant(metadata.created), "Modified": BusVariant(metadata.modified),
        ]
    }

    /// The label of a locked item of which nothing is known.
    static let lockedLabel = "(locked)"

    /// What `GetAll` answers for properties that are not known: libsecret ends its program where one is
    /// missing. The attributes say what they are, because an empty map would look like an answer.
    static let unknownProperties: [String: BusVariant] = [
        "Attributes": BusVariant(["org.freedesktop.Secret.Error.IsLocked": "the attributes are not known"]),
        "Created": BusVariant(UInt64(0)), "Modified": BusVariant(UInt64(0)),
    ]
}

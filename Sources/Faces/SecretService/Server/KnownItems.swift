// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SystemBus

/// The metadata of items that were open since the service was started. It is shown after a lock as well: a
/// program that finds two locked items must tell them apart, and every program of the user could read it
/// before. It is in memory only, of at most ``maxCount`` items, and ends with the service.
///
/// Beyond the limits, the program that has most in one collection loses its oldest item there: it takes no place
/// of other programs.
final class KnownItems: Sendable {
    private struct Source: Hashable {
        let collection: CollectionName
        /// The program that has stored the items; nil if it is not known.
        let program: ProgramPath?
    }

    private struct Entry {
        let metadata: SecretItemMetadata
        let source: Source
        let number: UInt64
    }

    /// The items of one source.
    private struct Group {
        /// The oldest one first; an item that was seen again or forgotten is here with a number that it has no more.
        var order: ArraySlice<(item: ItemReference, number: UInt64)> = []
        var count = 0
        var length = 0
    }

    private struct State {
        var entries: [ItemReference: Entry] = [:]
        var groups: [Source: Group] = [:]
        var length = 0
        var lastNumber: UInt64 = 0

        mutating func insert(_ item: SecretItem, _ metadata: SecretItemMetadata) {
            remove(item.reference)
            lastNumber += 1
            let source = Source(collection: item.reference.collection, program: item.creators.first)
            entries[item.reference] = Entry(metadata: metadata, source: source, number: lastNumber)
            length += metadata.length
            var group = groups.removeValue(forKey: source) ?? Group()
            group.count += 1
            group.length += metadata.length
            group.order.append((item.reference, lastNumber))
            if group.order.count > 2 * group.count + KnownItems.spareCount {
                group.order.removeAll { entries[$0.item]?.number != $0.number }
            }
            groups[source] = group
            while entries.count > KnownItems.maxCount { removeOldest { $0.count < $1.count } }
            while length > KnownItems.maxLength { removeOldest { $0.length < $1.length } }
        }

        mutating func remove(_ item: ItemReference) {
            guard let entry = entries.removeValue(forKey: item) else { return }
            length -= entry.metadata.length
            groups[entry.source]?.count -= 1
            groups[entry.source]?.length -= entry.metadata.length
            if groups[entry.source]?.count == 0 { groups[entry.source] = nil }
        }

        private mutating func removeOldest(of isSmaller: (Group, Group) -> Bool) {
            guard let largest = groups.max(by: { isSmaller($0.value, $1.value) })?.key else { return }
            while let oldest = groups[largest]?.order.popFirst() {
                guard entries[oldest.item]?.number != oldest.number else { return remove(oldest.item) }
            }
        }
    }

    private let state = SystemMutex(State())

    /// Returns the item with the metadata that it had when it was open, and remembers that of an open one.
    func completed(_ item: SecretItem) -> SecretItem {
        guard item.isLocked else {
            remember([item])
            return item
        }
        var known = item
        known.metadata = state.withLock { $0.entries[item.reference]?.metadata }
        return known
    }

    /// Remembers open items.
    func remember(_ items: [SecretItem]) {
        state.withLock { state in
            for item in items {
                guard let metadata = item.metadata, !item.isLocked else { continue }
                state.insert(item, metadata)
            }
        }
    }

    /// Remembers the items of a collection, and forgets those that it does not have any more.
    ///
    /// - Parameter isWhole: whether these are all items of the collection. If not, the others may have changed:
    ///   all but the newest ``maxUnread`` are forgotten.
    /// - Returns: the items that are kept, and must be read again.
    @discardableResult
    func renew(_ collection: CollectionName, _ items: [SecretItem], isWhole: Bool = true) -> [ItemReference] {
        let present = Set(items.map(\.reference))
        let unread = state.withLock { state in
            let others = state.entries.filter { $0.key.collection == collection && !present.contains($0.key) }
                .sorted { $0.value.number > $1.value.number }.map(\.key)
            let kept = isWhole ? [] : others.prefix(Self.maxUnread)
            for reference in others.dropFirst(kept.count) { state.remove(reference) }
            return Array(kept)
        }
        remember(items)
        return unread
    }

    func forget(_ item: ItemReference) { state.withLock { $0.remove(item) } }

    /// Forgets all items of a deleted collection.
    func forget(_ collection: CollectionName) { renew(collection, []) }

    static let maxCount = 8192
    /// The maximum length of all texts, in bytes.
    static let maxLength = 4 << 20
    static let maxUnread = 256
    private static let spareCount = 64
}

extension SecretServer {
    /// Returns an item, also a locked one as it is known.
    func item(_ reference: ItemReference) throws(SecretStoreError) -> SecretItem {
        do throws(SecretStoreError) {
            return known.completed(try store.item(reference))
        } catch {
            if case .notFound = error { known.forget(reference) }
            throw error
        }
    }

    /// Reads an item that has changed.
    func reread(_ reference: ItemReference) {
        known.forget(reference)
        _ = try? item(reference)
    }
}

extension SecretItem {
    /// Returns the known properties of the item. Unknown ones are left out, except for the label: python-secretstorage
    /// reads it to find out whether an item exists.
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

    /// The label of a locked item without known metadata.
    static let lockedLabel = "(locked)"

    /// The values of `GetAll` for unknown properties: libsecret ends its program if one is missing. The attributes say
    /// that they are unknown, because an empty map would look like an answer.
    static let unknownProperties: [String: BusVariant] = [
        "Attributes": BusVariant(["org.freedesktop.Secret.Error.IsLocked": "the attributes are not known"]),
        "Created": BusVariant(UInt64(0)), "Modified": BusVariant(UInt64(0)),
    ]
}

// SPDX-License-Identifier: Apache-2.0

/// The lookup attributes that every password item has.
extension ItemRecord {
    /// The map that a client of the Secret Service sees: the stored map of a client; otherwise one made from the item's
    /// attributes. nil for other classes and for tombstones.
    public var lookupAttributes: LookupAttributes? {
        guard itemClass.isPassword, !isTombstone else { return nil }
        return storedLookup ?? LookupAttributes(unchecked: ownEntries(withAliases: false))
    }

    /// The entries by which a search finds the item: the entries of ``lookupAttributes``, and the aliases of the
    /// account if no client has stored the item.
    public var searchableLookup: LookupAttributes? {
        guard itemClass.isPassword, !isTombstone else { return nil }
        return storedLookup ?? LookupAttributes(unchecked: ownEntries(withAliases: true))
    }

    private func ownEntries(withAliases: Bool) -> [LookupEntry] {
        var entries = [LookupEntry(LookupSource.schema, LookupSource.schema(of: itemClass))]
        for source in LookupSource.all(of: itemClass) {
            guard let text = source.text(of: self[source.attribute]) else { continue }
            let names = [source.ownName] + (withAliases ? source.aliases : [])
            entries += names.map { LookupEntry($0, text) }
        }
        return entries.sorted { $0.precedes($1) }
    }

    /// Gives the item a map, and the attributes that are taken from it.
    public mutating func setLookup(_ attributes: LookupAttributes) {
        storedLookup = attributes
        self.attributes.merge(attributes.itemAttributes(of: itemClass)) { _, new in new }
    }

    /// Returns the item with a number after its account, for items with different maps that mean the same to SecItem:
    /// `alice (2)`.
    public func withAccountNumber(_ number: UInt32) -> ItemRecord {
        var record = self
        let account = self[.account]?.text ?? ""
        record.attributes[.account] = .string(account.isEmpty ? "(\(number))" : "\(account) (\(number))")
        return record
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The meaning for SecItem of lookup attributes that a client of the Secret Service stores.
extension LookupAttributes {
    /// The class of an item with these attributes: an internet password if they have libsecret's network
    /// schema, or name a server and a protocol; otherwise a generic password.
    public var itemClass: ItemClass {
        if self[LookupSource.schema] == LookupSource.networkSchema { return .internetPassword }
        return self["server"] != nil && self["protocol"] != nil ? .internetPassword : .genericPassword
    }

    /// The attributes of SecItem that are taken from the map, for an item of this class. One that the
    /// map does not have is as if it was never set.
    public func itemAttributes(of itemClass: ItemClass) -> [ItemAttribute: AttributeValue] {
        let schema = ItemSchema.of(itemClass)
        var attributes: [ItemAttribute: AttributeValue] = [:]
        for source in LookupSource.all(of: itemClass) {
            let text = source.names.lazy.compactMap { self[$0] }.first
            let initial: AttributeValue = schema[source.attribute]?.initial ?? .string("")
            attributes[source.attribute] = text.flatMap { source.value(of: $0) } ?? initial
        }
        return attributes
    }

    /// Returns the map of an item after a program has changed attributes of the item. The name that supplied a changed
    /// attribute gets the new value, or the attribute's own name if there was none. If an attribute now has no text,
    /// all its names are removed.
    ///
    /// - Parameter changes: the attributes with changed values.
    /// - Throws: errSecDataTooLarge if the new map exceeds a limit.
    public func following(
        _ changes: [ItemAttribute: AttributeValue], of itemClass: ItemClass
    ) throws(KeychainError) -> LookupAttributes {
        var pairs = entries.map { (name: $0.name, value: $0.value) }
        for source in LookupSource.all(of: itemClass) {
            guard let new = changes[source.attribute] else { continue }
            guard let text = source.text(of: new) else {
                pairs.removeAll { source.names.contains($0.name) }
                continue
            }
            let name = source.names.first { self[$0] != nil } ?? source.ownName
            pairs.removeAll { $0.name.hasSameBytes(as: name) }
            pairs.append((name, text))
        }
        return try LookupAttributes(pairs)
    }
}

extension ItemClass {
    /// Whether items of the class are passwords. Only passwords have lookup attributes.
    public var isPassword: Bool { self == .genericPassword || self == .internetPassword }
}

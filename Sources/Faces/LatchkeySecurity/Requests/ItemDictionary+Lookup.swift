// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel

extension ItemDictionary {
    /// The query that the three searching calls have in common.
    func lookup() throws(KeychainError) -> ItemLookup {
        _ = try secret()  // Data in a query is not a condition, but its type is checked.
        let object = try itemReference()
        let given = try decodedPersistentReference()
        let reference = given ?? object?.persistentReference
        let named = try namedClass() ?? object?.itemClass
        guard let itemClass = named ?? reference?.itemClass else { throw .parameter("kSecClass is missing") }
        if let reference, reference.itemClass != itemClass {
            throw KeychainError(.noSuchClass, "the class of the persistent reference differs from kSecClass")
        }
        let attributes = try ConvertedAttributes(self.attributes, of: itemClass)
        guard attributes.secret.isEmpty else { throw .parameter("secret attributes cannot be searched for") }
        var conditions = attributes.plain
        // An access list is a record about the item, not a condition: the dictionary that added an item finds it.
        conditions[.accessList] = nil
        for name in [ItemAttribute.issuer, .subject] {
            if case .data(let bytes)? = conditions[name] {
                conditions[name] = .data(CertificateAttributes.searchedName(bytes))
            }
        }
        if let protection = attributes.protection, attributes.accessControl?.flags == nil {
            conditions[.accessible] = .string(protection.rawValue)
        }
        // A persistent reference names one item in either scope. The same applies to an object that
        // came from such a reference, unless the query names a scope.
        let scope = given != nil ? .any : attributes.synchronizable ?? (reference == nil ? .local : .any)
        let query = try ItemQuery(
            itemClass, attributes: conditions, accessGroup: attributes.accessGroup, synchronizable: scope,
            persistentReference: reference, includesTombstones: includesTombstones())
        guard given == nil, let object, object.hasContent else { return ItemLookup(query) }
        var byContent = query
        byContent.persistentReference = nil
        byContent.synchronizable = attributes.synchronizable ?? .local
        // An attribute in the query takes precedence over the same attribute of the object.
        byContent.attributes.merge(try object.conditions()) { given, _ in given }
        return reference == nil ? ItemLookup(byContent) : ItemLookup(query, otherwise: byContent)
    }
}

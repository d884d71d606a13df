// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeyServices
internal import KeychainModel
internal import SecretMemory

/// The parsed dictionary of `SecItemAdd`.
struct AddRequest {
    let content: Content
    /// Whether the items come from kSecUseItemList.
    let isList: Bool
    let returning: ReturnTypes
    let authentication: AuthenticationRequest
    let keychain: ChosenKeychains

    enum Content {
        case item(ItemAddition)
        /// Objects of one class, with the attributes that the dictionary gives each of them.
        case objects([ItemReference], ConvertedAttributes)
    }

    init(parsing dictionary: CFDictionary) throws(KeychainError) {
        let parsed = try ItemDictionary(dictionary)
        guard parsed.match.isEmpty else { throw .parameter("match keys are not allowed in SecItemAdd") }
        guard parsed.persistentReference == nil else { throw .parameter("a new item has no persistent reference yet") }
        _ = try parsed.includesTombstones()  // It has no effect, but its type is checked.
        authentication = try parsed.authentication(allowsSkip: false)
        keychain = try parsed.addedKeychain()
        returning = parsed.returning
        let data = try parsed.secret()
        let reference = try parsed.itemReference()
        let list = try parsed.objectsToAdd()
        isList = list != nil
        if let objects = list ?? reference.map({ [$0] }) {
            guard data == nil else { throw .parameter("an object and kSecValueData exclude each other") }
            guard list == nil || reference == nil else {
                throw .parameter("kSecUseItemList and kSecValueRef exclude each other")
            }
            content = .objects(objects, try Self.attributes(parsed, of: objects[0].itemClass))
        } else {
            let itemClass = try parsed.requiredClass()
            guard itemClass != .identity else {
                throw .parameter("an identity must be added by reference; it has no row of its own")
            }
            let given = try Self.attributes(parsed, of: itemClass)
            var standard: [ItemAttribute: AttributeValue] = [:]
            if itemClass == .certificate, let certificate = data.flatMap(Self.certificate) {
                standard = CertificateAttributes.standard(certificate)
            } else if returning.contains(.reference) {
                // If the caller wants a reference, data that cannot have one is refused before it
                // is stored.
                if itemClass == .key { try Self.requireKey(given.plain, data) }
                if itemClass == .certificate { throw KeychainError(.decode, "the data must be a certificate in DER") }
            }
            content = .item(given.addition(itemClass, standard: standard, data))
        }
    }

    private static func attributes(_ parsed: ItemDictionary, of itemClass: ItemClass) throws(KeychainError)
        -> ConvertedAttributes
    {
        var attributes = try ConvertedAttributes(parsed.attributes, of: itemClass)
        attributes.removeSystemAttributes()
        return attributes
    }

    private static func certificate(_ data: SharedSecret) -> Certificate? {
        data.withUnsafeBytes { try? Certificate(der: Array($0)) }
    }

    /// Refuses data that is not a key of the type and class that the attributes name.
    private static func requireKey(_ attributes: [ItemAttribute: AttributeValue], _ data: SharedSecret?)
        throws(KeychainError)
    {
        guard case .number(let type)? = attributes[.type], let type = KeyType(rawValue: type) else {
            throw KeychainError(.unimplemented, "keys of this type can be stored, but have no reference")
        }
        guard case .number(let half)? = attributes[.keyClass] ?? .number(0), let half = KeyHalf(rawValue: half) else {
            throw KeychainError(.unimplemented, "keys of this class can be stored, but have no reference")
        }
        guard let data else { throw KeychainError(.decode, "the item does not hold a key") }
        try data.withUnsafeBytes { (bytes) throws(KeychainError) in
            switch half {
            case .publicKey: _ = try PublicKey(imported: bytes, type: type)
            case .privateKey: _ = try SoftwareKey(external: bytes, type: type)
            }
        }
    }
}

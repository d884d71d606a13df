// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import SecretMemory

/// The attributes of a dictionary, converted with the schema of a class. Some become fields of a
/// request.
struct ConvertedAttributes {
    var plain: [ItemAttribute: AttributeValue] = [:]
    var secret: [ItemAttribute: SharedSecret] = [:]
    var accessGroup: String?
    var protection: ProtectionClass?
    var accessControl: SecAccessControl?
    var synchronizable: SynchronizableScope?

    init(_ attributes: [(code: String, value: Any)], of itemClass: ItemClass) throws(KeychainError) {
        let schema = ItemSchema.of(itemClass)
        for (code, value) in attributes {
            guard let attribute = ItemAttribute(rawValue: code), let column = schema[attribute] else {
                throw KeychainError(.noSuchAttribute, "\(itemClass.constant) has no attribute '\(code)'")
            }
            try take(attribute, column, value)
        }
        try reconcileProtection()
    }

    private mutating func take(_ attribute: ItemAttribute, _ column: ItemSchema.Column, _ value: Any)
        throws(KeychainError)
    {
        switch attribute {
        case .synchronizable:
            if let flag = ValueConversion.flag(value) {
                synchronizable = flag ? .synchronized : .local
            } else if value as? String == "syna" {
                synchronizable = .any
            } else {
                throw .parameter(
                    "kSecAttrSynchronizable must be a Boolean or kSecAttrSynchronizableAny")
            }
        case .accessControl:
            guard let control = value as? SecAccessControl else {
                throw .parameter("kSecAttrAccessControl must be a SecAccessControl")
            }
            accessControl = control
        case .accessList:
            guard let access = value as? SecAccess else { throw .parameter("kSecAttrAccess must be a SecAccess") }
            plain[attribute] = try access.accessList().attributeValue
        case .accessible:
            guard case .string(let code) = try ValueConversion.value(value, for: column),
                let known = ProtectionClass(rawValue: code)
            else {
                throw .parameter("kSecAttrAccessible must be a protection class")
            }
            protection = known
        case .accessGroup:
            guard case .string(let name) = try ValueConversion.value(value, for: column) else {
                throw .parameter("kSecAttrAccessGroup must be a string")
            }
            accessGroup = name
        default:
            if column.isSecret {
                secret[attribute] = try ValueConversion.secret(value, name: column.constant)
            } else {
                plain[attribute] = try ValueConversion.value(value, for: column)
            }
        }
    }

    /// A SecAccessControl from the flags API conflicts with a protection class in the same
    /// dictionary. A SecAccessControl from a result only repeats the class.
    private mutating func reconcileProtection() throws(KeychainError) {
        guard let accessControl else { return }
        guard let known = ProtectionClass(rawValue: accessControl.protection) else {
            throw .parameter(
                "the access control's protection '\(accessControl.protection)' is not allowed for stored items")
        }
        if let protection, accessControl.flags != nil || protection != known {
            throw .parameter("kSecAttrAccessible and kSecAttrAccessControl exclude each other")
        }
        protection = known
    }

    /// Removes the attributes that only the system sets.
    mutating func removeSystemAttributes() {
        for attribute in [ItemAttribute.creationDate, .modificationDate, .tombstone, .digest, .multiUser] {
            plain[attribute] = nil
        }
    }

    var accessControlFlags: AccessControlFlags? {
        accessControl?.flags.map { AccessControlFlags(rawValue: UInt64($0.rawValue)) }
    }

    /// The item of a class with these attributes.
    ///
    /// - Parameter standard: attributes that the dictionary can override.
    func addition(_ itemClass: ItemClass, standard: [ItemAttribute: AttributeValue], _ data: SharedSecret?)
        -> ItemAddition
    {
        // The certificate and the key of an identity each take those attributes that their class
        // has.
        let own = plain.filter { ItemSchema.of(itemClass)[$0.key] != nil }
        return ItemAddition(
            itemClass, attributes: own.merging(standard) { given, _ in given },
            secrets: ItemSecrets(data: data, attributes: secret),
            accessGroup: accessGroup, protection: protection, accessControlFlags: accessControlFlags,
            isSynchronizable: synchronizable == .synchronized)
    }
}

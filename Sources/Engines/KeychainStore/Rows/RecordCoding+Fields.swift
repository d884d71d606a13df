// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The fields of an open metadata half: checked, but not copied. Tokens and searches read the
/// values where they are; a record is made only where its attributes are needed.
///
/// It is valid only during the call that reads the plaintext.
struct MetadataFields {
    /// The record without its attributes and secrets.
    let bareRecord: ItemRecord
    /// In the order of their names.
    private let attributes: [(attribute: ItemAttribute, field: Field)]

    /// Checks every field of a plaintext.
    init(_ plaintext: UnsafeRawBufferPointer, clear: ClearColumns) throws(RowDamage) {
        var attributes: [(attribute: ItemAttribute, field: Field)] = []
        attributes.reserveCapacity(16)
        var header = Header()
        let schema = MetadataSchema.of(clear.itemClass)
        try Field.forEach(in: plaintext) { (field) throws(RowDamage) in
            try field.validate()
            switch field.name {
            case MetadataCoding.Name.created: header.created = field
            case MetadataCoding.Name.modified: header.modified = field
            case MetadataCoding.Name.accessGroup: header.accessGroup = field
            case MetadataCoding.Name.grade: header.grade = field
            case MetadataCoding.Name.addedBy: header.addedBy = field
            case MetadataCoding.Name.accessControl: header.accessControl = field
            case MetadataCoding.Name.publicKey: header.publicKey = field
            case MetadataCoding.Name.lookup where clear.itemClass.isPassword: header.lookup = field
            case MetadataCoding.Name.contentType where clear.itemClass.isPassword: header.contentType = field
            default:
                guard let attribute = schema.attribute(field.name) else {
                    throw RowDamage("unexpected attribute in the metadata half")
                }
                attributes.append((attribute, field))
            }
        }
        bareRecord = try header.record(clear)
        self.attributes = attributes
    }

    /// Returns the record, without its secrets.
    func record() throws(RowDamage) -> ItemRecord {
        var record = bareRecord
        record.attributes.reserveCapacity(attributes.count)
        for (attribute, field) in attributes { record.attributes[attribute] = try field.attributeValue() }
        return record
    }
}

extension MetadataFields {
    /// The same as ``ItemRecord/isUnnamedTokenKey``.
    var isUnnamedTokenKey: Bool {
        var (token, permanent): ([UInt8], [UInt8]) = ([], [])
        guard appendCanonicalBytes(of: .tokenIdentifier, to: &token), !token.isEmpty else { return false }
        return appendCanonicalBytes(of: .isPermanent, to: &permanent)
            && permanent == AttributeValue.number(0).canonicalBytes
    }
}

extension MetadataFields: CanonicalValues {
    var itemClass: ItemClass { bareRecord.itemClass }

    func appendCanonicalBytes(of attribute: ItemAttribute, to bytes: inout [UInt8]) -> Bool {
        for (candidate, field) in attributes where candidate == attribute {
            field.appendCanonicalBytes(to: &bytes)
            return true
        }
        return bareRecord.appendCanonicalBytes(of: attribute, to: &bytes)
    }
}

extension MetadataFields {
    /// The fields that are not attributes.
    private struct Header {
        var created: Field?
        var modified: Field?
        var accessGroup: Field?
        var grade: Field?
        var addedBy: Field?
        var accessControl: Field?
        var publicKey: Field?
        var lookup: Field?
        var contentType: Field?

        func record(_ clear: ClearColumns) throws(RowDamage) -> ItemRecord {
            guard case .date(let created)? = try created?.attributeValue(),
                case .date(let modified)? = try modified?.attributeValue(),
                case .string(let group)? = try accessGroup?.attributeValue(),
                case .number(let gradeNumber)? = try grade?.attributeValue(),
                case .string(let addedBy)? = try addedBy?.attributeValue(),
                let gradeCode = UInt8(exactly: gradeNumber), let grade = AccessGroup.Grade(rawValue: gradeCode)
            else { throw RowDamage("a required field is missing") }
            var record = ItemRecord(
                identifier: clear.identifier, itemClass: clear.itemClass, protection: clear.protection,
                accessGroup: AccessGroup(group, grade: grade), isSynchronizable: clear.isSynchronizable,
                isTombstone: clear.isTombstone, created: Self.usable(created), modified: Self.usable(modified),
                accessControlFlags: try accessControlFlags(), addedBy: addedBy)
            record.publicKey = try keptPublicKey()
            record.storedLookup = try storedLookup()
            record.contentType = try keptContentType()
            return record
        }

        private func storedLookup() throws(RowDamage) -> LookupAttributes? {
            guard let lookup else { return nil }
            guard case .data(let bytes) = try lookup.attributeValue(),
                let attributes = LookupAttributes(decoding: bytes)
            else { throw RowDamage("the lookup attributes are malformed") }
            return attributes
        }

        private func keptContentType() throws(RowDamage) -> ContentType? {
            guard let contentType else { return nil }
            guard case .string(let text) = try contentType.attributeValue(), let type = ContentType(text) else {
                throw RowDamage("the content type is malformed")
            }
            return type
        }

        private func accessControlFlags() throws(RowDamage) -> AccessControlFlags? {
            guard let accessControl else { return nil }
            guard case .number(let number) = try accessControl.attributeValue() else {
                throw RowDamage("the access control field must be a number")
            }
            return AccessControlFlags(rawValue: UInt64(bitPattern: number))
        }

        private func keptPublicKey() throws(RowDamage) -> [UInt8]? {
            guard let publicKey else { return nil }
            guard case .data(let bytes) = try publicKey.attributeValue() else {
                throw RowDamage("the public key field must be data")
            }
            return bytes
        }

        /// Returns the date, or the reference date if it is not finite, so that one invalid date
        /// does not make the item unreadable.
        private static func usable(_ date: Double) -> Double {
            date.isFinite ? date : 0
        }
    }
}

/// The attributes of a class that are stored in the metadata half, by the code of their fields.
private struct MetadataSchema {
    private let codes: [UInt32]
    private let attributes: [ItemAttribute]

    func attribute(_ code: UInt32) -> ItemAttribute? {
        for (candidate, attribute) in zip(codes, attributes) where candidate == code { return attribute }
        return nil
    }

    static func of(_ itemClass: ItemClass) -> MetadataSchema {
        switch itemClass {
        case .genericPassword: genericPassword
        case .internetPassword: internetPassword
        case .certificate: certificate
        case .key: key
        case .identity: identity
        }
    }

    private init(_ itemClass: ItemClass) {
        attributes = ItemSchema.of(itemClass).columns.filter(\.isStoredWithMetadata).map(\.attribute)
        codes = attributes.map(\.code)
    }

    private static let genericPassword = MetadataSchema(.genericPassword)
    private static let internetPassword = MetadataSchema(.internetPassword)
    private static let certificate = MetadataSchema(.certificate)
    private static let key = MetadataSchema(.key)
    private static let identity = MetadataSchema(.identity)
}

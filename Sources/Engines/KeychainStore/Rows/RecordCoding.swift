// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// The damage of a row. Reports show the text; it contains no values.
struct RowDamage: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
}

/// The type of a field. Each half of a row is a list of named fields,
/// `name(4) type(1) length(4, big-endian) bytes`, sorted by name, each name at most once.
///
/// Attributes are plain values; secrets stay in secret memory.
enum FieldType: UInt8 {
    case string = 1
    case data = 2
    case number = 3
    case date = 4
    case secret = 5
}

struct Field {
    static let headerLength = 9

    /// Four ASCII letters as one big-endian number.
    let name: UInt32
    let type: FieldType
    /// The bytes of the value; valid only during the call that reads the plaintext.
    let value: UnsafeRawBufferPointer

    /// Calls `body` with every field of a plaintext, in order.
    ///
    /// - Throws: ``RowDamage`` if the bytes are not a sequence of fields.
    static func forEach(
        in plaintext: UnsafeRawBufferPointer, _ body: (Field) throws(RowDamage) -> Void
    ) throws(RowDamage) {
        var position = 0
        var last: UInt32?
        while position < plaintext.count {
            guard plaintext.count - position >= headerLength else { throw RowDamage("a field header is truncated") }
            let name = UInt32(bigEndian: plaintext.loadUnaligned(fromByteOffset: position, as: UInt32.self))
            guard let type = FieldType(rawValue: plaintext[position + 4]) else {
                throw RowDamage("unknown field type")
            }
            let length = Int(UInt32(bigEndian: plaintext.loadUnaligned(fromByteOffset: position + 5, as: UInt32.self)))
            position += headerLength
            guard plaintext.count - position >= length else { throw RowDamage("a field value is truncated") }
            if let last, last >= name { throw RowDamage("the fields are out of order") }
            last = name
            try body(
                Field(
                    name: name, type: type,
                    value: UnsafeRawBufferPointer(rebasing: plaintext[position..<position + length])))
            position += length
        }
    }

    /// Returns the value of an attribute field.
    func attributeValue() throws(RowDamage) -> AttributeValue {
        switch type {
        case .string:
            guard let text = String(validating: value, as: UTF8.self) else { throw RowDamage("a string is not UTF-8") }
            return .string(text)
        case .data: return .data(Array(value))
        case .number: return .number(Int64(bitPattern: try word()))
        case .date: return .date(Double(bitPattern: try word()))
        case .secret: throw RowDamage("unexpected secret field in the metadata half")
        }
    }

    /// Throws where ``attributeValue()`` does, without making the value.
    func validate() throws(RowDamage) {
        switch type {
        case .string:
            let isValid = value.withMemoryRebound(to: UInt8.self) { (try? UTF8Span(validating: $0.span)) != nil }
            guard isValid else { throw RowDamage("a string is not UTF-8") }
        case .data: return
        case .number, .date: _ = try word()
        case .secret: throw RowDamage("unexpected secret field in the metadata half")
        }
    }

    /// Appends the canonical bytes of the value (``AttributeValue/canonicalBytes``).
    func appendCanonicalBytes(to bytes: inout [UInt8]) {
        switch type {
        case .string, .data, .secret: bytes.append(contentsOf: value)
        case .number, .date:
            // A value that was not validated has no canonical bytes.
            if let number = try? attributeValue() { bytes += number.canonicalBytes }
        }
    }

    private func word() throws(RowDamage) -> UInt64 {
        guard value.count == 8 else { throw RowDamage("a number must have 8 bytes") }
        return UInt64(bigEndian: value.loadUnaligned(as: UInt64.self))
    }
}

// MARK: Metadata

/// Encodes and decodes the metadata half: every attribute that is not secret, the access group and
/// the dates.
enum MetadataCoding {
    static func encode(_ record: ItemRecord) -> [UInt8] {
        var fields: [(name: UInt32, value: AttributeValue)] = []
        fields.reserveCapacity(record.attributes.count + 6)
        for (attribute, value) in record.attributes where attribute != .digest {
            fields.append((attribute.code, value))
        }
        fields.append((Name.created, .date(record.created)))
        fields.append((Name.modified, .date(record.modified)))
        fields.append((Name.accessGroup, .string(record.accessGroup.name)))
        fields.append((Name.grade, .number(Int64(record.accessGroup.grade.rawValue))))
        fields.append((Name.addedBy, .string(record.addedBy)))
        if let flags = record.accessControlFlags {
            fields.append((Name.accessControl, .number(Int64(bitPattern: flags.rawValue))))
        }
        if let key = record.publicKey { fields.append((Name.publicKey, .data(key))) }
        if let attributes = record.storedLookup { fields.append((Name.lookup, .data(attributes.encoded))) }
        if let type = record.contentType { fields.append((Name.contentType, .string(type.text))) }
        fields.sort { $0.name < $1.name }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        for field in fields { append(field.value, named: field.name, to: &bytes) }
        return bytes
    }

    /// Returns the record of a row, without its secrets.
    static func decode(_ plaintext: UnsafeRawBufferPointer, clear: ClearColumns) throws(RowDamage) -> ItemRecord {
        try MetadataFields(plaintext, clear: clear).record()
    }

    private static func append(_ value: AttributeValue, named name: UInt32, to bytes: inout [UInt8]) {
        func append(_ type: FieldType, _ content: some Collection<UInt8>) {
            bytes.append(bigEndian: name)
            bytes.append(type.rawValue)
            bytes.append(bigEndian: UInt32(content.count))
            bytes.append(contentsOf: content)
        }
        switch value {
        case .string(let text): append(.string, text.utf8)
        case .data(let data): append(.data, data)
        case .number(let number): append(.number, number.bigEndianBytes)
        case .date(let seconds): append(.date, seconds.bitPattern.bigEndianBytes)
        }
    }

    /// The names of the fields of a record. Attributes use their own four-letter codes.
    enum Name {
        static let created = ItemAttribute.creationDate.code
        static let modified = ItemAttribute.modificationDate.code
        static let accessGroup = ItemAttribute.accessGroup.code
        static let accessControl = ItemAttribute.accessControl.code
        /// "grad"
        static let grade: UInt32 = 0x6772_6164
        /// "pubk"
        static let publicKey: UInt32 = 0x7075_626B
        /// "lkup"
        static let lookup: UInt32 = 0x6C6B_7570
        /// "ctnt"
        static let contentType: UInt32 = 0x6374_6E74
        /// "mker"
        static let addedBy: UInt32 = 0x6D6B_6572
    }
}

// MARK: Secrets

/// Encodes and decodes the secret half, from secret memory to secret memory.
enum SecretsCoding {
    static func encode(_ secrets: ItemSecrets) -> SecretBytes {
        var fields: [(name: UInt32, value: SharedSecret)] = secrets.attributes.map { ($0.key.code, $0.value) }
        if let data = secrets.data { fields.append((dataName, data)) }
        fields.sort { $0.name < $1.name }
        let length = fields.reduce(0) { $0 + Field.headerLength + $1.value.count }
        return SecretBytes(count: length) { buffer in
            var position = 0
            for field in fields {
                buffer.storeBytes(of: field.name.bigEndian, toByteOffset: position, as: UInt32.self)
                buffer[position + 4] = FieldType.secret.rawValue
                buffer.storeBytes(of: UInt32(field.value.count).bigEndian, toByteOffset: position + 5, as: UInt32.self)
                position += Field.headerLength
                field.value.withUnsafeBytes { buffer[position..<position + $0.count].copyBytes(from: $0) }
                position += field.value.count
            }
        }
    }

    static func decode(_ plaintext: UnsafeRawBufferPointer, of itemClass: ItemClass) throws(RowDamage) -> ItemSecrets {
        var secrets = ItemSecrets()
        try Field.forEach(in: plaintext) { (field) throws(RowDamage) in
            guard field.type == .secret else { throw RowDamage("unexpected attribute field in the secret half") }
            let value = SharedSecret(SecretBytes(copying: field.value))
            if field.name == dataName {
                secrets.data = value
                return
            }
            guard let attribute = ItemAttribute(code: field.name), ItemSchema.of(itemClass)[attribute]?.isSecret == true
            else {
                throw RowDamage("unexpected secret attribute for the class of the item")
            }
            secrets.attributes[attribute] = value
        }
        return secrets
    }

    /// "data"
    private static let dataName: UInt32 = 0x6461_7461
}

// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// The attributes that an item block shows, with their order and types (keychain-behaviour §8.3).
///
/// The order and the types are those of macOS's keychain files, not those of the schema, because
/// programs parse them.
enum BlockLayout {
    struct Line: Sendable {
        /// The attribute's code in quotes, or its number followed by a space.
        let name: String
        let type: ValueType
        /// nil if there is no such attribute; it is printed as unset.
        let attribute: ItemAttribute?

        fileprivate init(_ code: String, _ type: ValueType, _ attribute: ItemAttribute?) {
            name = "\"\(code)\""
            self.type = type
            self.attribute = attribute
        }

        fileprivate init(_ number: UInt8, _ type: ValueType, _ attribute: ItemAttribute?) {
            name = "0x000000\(Hexadecimal.text(number, isUppercase: true)) "
            self.type = type
            self.attribute = attribute
        }

        fileprivate init(_ attribute: ItemAttribute, _ type: ValueType) {
            self.init(attribute.rawValue, type, attribute)
        }
    }

    enum ValueType: String, Sendable {
        case blob, uint32, sint32, timedate
    }

    static func of(_ itemClass: ItemClass) -> [Line] {
        switch itemClass {
        case .genericPassword: genericPassword
        case .internetPassword: internetPassword
        case .certificate, .identity: certificate
        case .key: key
        }
    }

    private static let genericPassword: [Line] = [
        Line(0x07, .blob, .label), Line(0x08, .blob, .alias), Line(.account, .blob), Line(.creationDate, .timedate),
        Line(.creator, .uint32), Line(.hasCustomIcon, .sint32), Line(.itemDescription, .blob), Line(.generic, .blob),
        Line(.comment, .blob), Line(.isInvisible, .sint32), Line(.modificationDate, .timedate),
        Line(.isNegative, .sint32),
        Line(.customProtection, .blob), Line(.scriptCode, .sint32), Line(.service, .blob), Line(.type, .uint32),
    ]

    private static let internetPassword: [Line] = [
        Line(0x07, .blob, .label), Line(0x08, .blob, .alias), Line(.account, .blob), Line(.authenticationType, .blob),
        Line(.creationDate, .timedate), Line(.creator, .uint32), Line(.hasCustomIcon, .sint32),
        Line(.itemDescription, .blob),
        Line(.comment, .blob), Line(.isInvisible, .sint32), Line(.modificationDate, .timedate),
        Line(.isNegative, .sint32),
        Line(.path, .blob), Line(.port, .uint32), Line(.customProtection, .blob), Line(.protocol, .uint32),
        Line(.scriptCode, .sint32),
        Line(.securityDomain, .blob), Line(.server, .blob), Line(.type, .uint32),
    ]

    private static let certificate: [Line] = [
        Line("alis", .blob, .alias), Line("cenc", .uint32, .certificateEncoding),
        Line("ctyp", .uint32, .certificateType),
        Line("hpky", .blob, .publicKeyHash), Line("issu", .blob, .issuer), Line("labl", .blob, .label),
        Line("skid", .blob, .subjectKeyIdentifier), Line("snbr", .blob, .serialNumber), Line("subj", .blob, .subject),
    ]

    /// A key's attributes have no codes. They are numbered from 0, in the order of the CSSM key
    /// schema.
    private static let key: [Line] = [
        Line(0x00, .uint32, .keyClass), Line(0x01, .blob, .label), Line(0x02, .blob, .alias),
        Line(0x03, .uint32, .isPermanent),
        Line(0x04, .uint32, .isPrivate), Line(0x05, .uint32, .isModifiable), Line(0x06, .blob, .applicationLabel),
        Line(0x07, .blob, .applicationTag), Line(0x08, .blob, .creator), Line(0x09, .uint32, .type),
        Line(0x0A, .uint32, .keySizeInBits),
        Line(0x0B, .uint32, .effectiveKeySize), Line(0x0C, .blob, nil), Line(0x0D, .blob, nil),
        Line(0x0E, .uint32, .isSensitive),
        Line(0x0F, .uint32, .wasAlwaysSensitive), Line(0x10, .uint32, .isExtractable),
        Line(0x11, .uint32, .wasNeverExtractable),
        Line(0x12, .uint32, .canEncrypt), Line(0x13, .uint32, .canDecrypt), Line(0x14, .uint32, .canDerive),
        Line(0x15, .uint32, .canSign),
        Line(0x16, .uint32, .canVerify), Line(0x17, .uint32, .canSignRecover), Line(0x18, .uint32, .canVerifyRecover),
        Line(0x19, .uint32, .canWrap), Line(0x1A, .uint32, .canUnwrap),
    ]
}

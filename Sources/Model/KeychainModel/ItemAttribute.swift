// SPDX-License-Identifier: Apache-2.0

/// An attribute of an item. The raw value is Apple's four-letter code, the value of the `kSecAttr…`
/// constant.
public enum ItemAttribute: String, CaseIterable, Sendable {
    // Of every class.
    /// `kSecAttrCreationDate`: when the item was added.
    case creationDate = "cdat"
    /// `kSecAttrModificationDate`: when the item was changed last.
    case modificationDate = "mdat"
    /// `kSecAttrLabel`: the name shown to the user.
    case label = "labl"
    /// `kSecAttrAlias`: another name.
    case alias = "alis"
    /// `kSecAttrAccessGroup`: the access group.
    case accessGroup = "agrp"
    /// `kSecAttrAccessible`: the protection class.
    case accessible = "pdmn"
    /// `kSecAttrSynchronizable`: whether the item is shared with the user's other devices.
    case synchronizable = "sync"
    /// `kSecAttrTombstone`: whether the item is only the record of a deletion.
    case tombstone = "tomb"
    /// `kSecAttrSHA1`: the SHA-1 of the data; computed, never stored.
    case digest = "sha1"
    /// `kSecAttrTokenID`: the token that holds the key.
    case tokenIdentifier = "tkid"
    /// `kSecAttrAccessControl`: the access control.
    case accessControl = "accc"
    /// `kSecAttrMultiUser`: the user of a shared device.
    case multiUser = "musr"
    /// `kSecAttrSyncViewHint`: the group that the item is synchronized in.
    case syncViewHint = "vwht"

    // Of passwords.
    /// `kSecAttrAccount`: the name of the account.
    case account = "acct"
    /// `kSecAttrService`: the name of the service.
    case service = "svce"
    /// `kSecAttrGeneric`: bytes that the program defines.
    case generic = "gena"
    /// `kSecAttrDescription`: the kind of item, as shown to the user.
    case itemDescription = "desc"
    /// `kSecAttrComment`: a comment for the user.
    case comment = "icmt"
    /// `kSecAttrCreator`, and for keys `kSecAttrKeyCreator`: a four-character code.
    case creator = "crtr"
    /// `kSecAttrType`, and for keys `kSecAttrKeyType`: a four-character code, or the algorithm.
    case type = "type"
    /// `kSecAttrScriptCode`: the script of the texts.
    case scriptCode = "scrp"
    /// `kSecAttrIsInvisible`: whether the item is not shown to the user.
    case isInvisible = "invi"
    /// `kSecAttrIsNegative`: whether the item records that no password is to be stored.
    case isNegative = "nega"
    /// `kSecAttrHasCustomIcon`: whether the item has an icon of its own.
    case hasCustomIcon = "cusi"
    /// The attribute `prot` (no public constant).
    case customProtection = "prot"
    /// `kSecAttrSecurityDomain`: the realm of the authentication.
    case securityDomain = "sdmn"
    /// `kSecAttrServer`: the host name or address of the server.
    case server = "srvr"
    /// `kSecAttrProtocol`: the protocol, as four letters.
    case `protocol` = "ptcl"
    /// `kSecAttrAuthenticationType`: the kind of authentication, as four letters.
    case authenticationType = "atyp"
    /// `kSecAttrPort`: the port; 0 for none.
    case port = "port"
    /// `kSecAttrPath`: the path of the URL.
    case path = "path"
    /// The attribute `binn` (no public constant): notes, in the secret half.
    case extraNotes = "binn"
    /// The attribute `bini` (no public constant): a history, in the secret half.
    case extraHistory = "bini"
    /// The attribute `bin0` (no public constant): bytes, in the secret half.
    case extraClient0 = "bin0"
    /// The attribute `bin1` (no public constant): bytes, in the secret half.
    case extraClient1 = "bin1"
    /// The attribute `bin2` (no public constant): bytes, in the secret half.
    case extraClient2 = "bin2"
    /// The attribute `bin3` (no public constant): bytes, in the secret half.
    case extraClient3 = "bin3"

    // Of certificates.
    /// `kSecAttrCertificateType`: the version of the certificate.
    case certificateType = "ctyp"
    /// `kSecAttrCertificateEncoding`: the encoding of the certificate.
    case certificateEncoding = "cenc"
    /// `kSecAttrSubject`: the subject, in DER.
    case subject = "subj"
    /// `kSecAttrIssuer`: the issuer, in DER.
    case issuer = "issr"
    /// `kSecAttrSerialNumber`: the serial number.
    case serialNumber = "slnr"
    /// `kSecAttrSubjectKeyID`: the subject key identifier.
    case subjectKeyIdentifier = "skid"
    /// `kSecAttrPublicKeyHash`: the SHA-1 of the public key.
    case publicKeyHash = "pkhh"

    // Of keys. `crtr` and `type` are also attributes of keys, under the names kSecAttrKeyCreator
    // and kSecAttrKeyType.
    /// `kSecAttrKeyClass`: public, private or symmetric.
    case keyClass = "kcls"
    /// `kSecAttrIsPermanent`: whether the key is in the keychain.
    case isPermanent = "perm"
    /// `kSecAttrIsPrivate`: whether the key is a private key.
    case isPrivate = "priv"
    /// `kSecAttrIsModifiable`: whether the key can be changed.
    case isModifiable = "modi"
    /// `kSecAttrApplicationLabel`: the SHA-1 of the public key. Both halves of a pair have the same one.
    case applicationLabel = "klbl"
    /// `kSecAttrApplicationTag`: the name that the program gives the key.
    case applicationTag = "atag"
    /// `kSecAttrKeySizeInBits`: the size in bits.
    case keySizeInBits = "bsiz"
    /// `kSecAttrEffectiveKeySize`: the size without bits of parity.
    case effectiveKeySize = "esiz"
    /// `kSecAttrStartDate`: when the key becomes valid.
    case startDate = "sdat"
    /// `kSecAttrEndDate`: when the key becomes invalid.
    case endDate = "edat"
    /// `kSecAttrIsSensitive`: whether the key may leave the keychain only encrypted.
    case isSensitive = "sens"
    /// `kSecAttrWasAlwaysSensitive`: whether ``isSensitive`` was always true.
    case wasAlwaysSensitive = "asen"
    /// `kSecAttrIsExtractable`: whether the bytes of the key are returned to programs.
    case isExtractable = "extr"
    /// `kSecAttrWasNeverExtractable`: whether ``isExtractable`` was always false.
    case wasNeverExtractable = "next"
    /// `kSecAttrCanEncrypt`: whether the key may encrypt.
    case canEncrypt = "encr"
    /// `kSecAttrCanDecrypt`: whether the key may decrypt.
    case canDecrypt = "decr"
    /// `kSecAttrCanDerive`: whether the key may be used for key agreement.
    case canDerive = "drve"
    /// `kSecAttrCanSign`: whether the key may sign.
    case canSign = "sign"
    /// `kSecAttrCanVerify`: whether the key may verify.
    case canVerify = "vrfy"
    /// `kSecAttrCanSignRecover`: whether the key may sign with message recovery.
    case canSignRecover = "snrc"
    /// `kSecAttrCanVerifyRecover`: whether the key may verify with message recovery.
    case canVerifyRecover = "vyrc"
    /// `kSecAttrCanWrap`: whether the key may encrypt keys.
    case canWrap = "wrap"
    /// `kSecAttrCanUnwrap`: whether the key may decrypt keys.
    case canUnwrap = "unwp"

    // Of passwords and keys.
    /// `kSecAttrAccess`: the programs to be trusted; a record without effect.
    case accessList = "acls"

    /// The four ASCII letters of the code as one number, the first letter in the most significant
    /// byte, so that codes sort like their letters.
    public var code: UInt32 { Self.codes[Int(number)] }

    /// The codes in the order of the cases' numbers, that is, of their declarations.
    private static let codes = allCases.map { $0.rawValue.utf8.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } }

    /// Returns the attribute with this code; nil if it is unknown.
    public init?(code: UInt32) {
        guard let attribute = Self.byCode[code] else { return nil }
        self = attribute
    }

    private static let byCode = Dictionary(uniqueKeysWithValues: allCases.map { ($0.code, $0) })
}

// MARK: Hashable

extension ItemAttribute: Hashable {
    /// Compares the case's own number. The compiler's implementation for an enumeration of strings
    /// would compare and hash the strings, and every lookup uses dictionaries of attributes.
    public static func == (one: ItemAttribute, other: ItemAttribute) -> Bool { one.number == other.number }

    public func hash(into hasher: inout Hasher) { hasher.combine(number) }

    /// The case's number. The cast is sound because an enumeration of at most 256 cases without
    /// values is one byte; it checks the sizes.
    private var number: UInt8 { unsafeBitCast(self, to: UInt8.self) }
}

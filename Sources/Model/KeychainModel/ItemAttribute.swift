// SPDX-License-Identifier: Apache-2.0

/// An attribute of an item. The raw value is Apple's four-letter code, the value of the `kSecAttr…`
/// constant.
public enum ItemAttribute: String, CaseIterable, Sendable {
    // Of every class.
    case creationDate = "cdat"
    case modificationDate = "mdat"
    case label = "labl"
    case alias = "alis"
    case accessGroup = "agrp"
    case accessible = "pdmn"
    case synchronizable = "sync"
    case tombstone = "tomb"
    case digest = "sha1"
    case tokenIdentifier = "tkid"
    case accessControl = "accc"
    case multiUser = "musr"
    case syncViewHint = "vwht"

    // Of passwords.
    case account = "acct"
    case service = "svce"
    case generic = "gena"
    case itemDescription = "desc"
    case comment = "icmt"
    case creator = "crtr"
    case type = "type"
    case scriptCode = "scrp"
    case isInvisible = "invi"
    case isNegative = "nega"
    case hasCustomIcon = "cusi"
    case customProtection = "prot"
    case securityDomain = "sdmn"
    case server = "srvr"
    case `protocol` = "ptcl"
    case authenticationType = "atyp"
    case port = "port"
    case path = "path"
    case extraNotes = "binn"
    case extraHistory = "bini"
    case extraClient0 = "bin0"
    case extraClient1 = "bin1"
    case extraClient2 = "bin2"
    case extraClient3 = "bin3"

    // Of certificates.
    case certificateType = "ctyp"
    case certificateEncoding = "cenc"
    case subject = "subj"
    case issuer = "issr"
    case serialNumber = "slnr"
    case subjectKeyIdentifier = "skid"
    case publicKeyHash = "pkhh"

    // Of keys. `crtr` and `type` are also attributes of keys, under the names kSecAttrKeyCreator
    // and kSecAttrKeyType.
    case keyClass = "kcls"
    case isPermanent = "perm"
    case isPrivate = "priv"
    case isModifiable = "modi"
    case applicationLabel = "klbl"
    case applicationTag = "atag"
    case keySizeInBits = "bsiz"
    case effectiveKeySize = "esiz"
    case startDate = "sdat"
    case endDate = "edat"
    case isSensitive = "sens"
    case wasAlwaysSensitive = "asen"
    case isExtractable = "extr"
    case wasNeverExtractable = "next"
    case canEncrypt = "encr"
    case canDecrypt = "decr"
    case canDerive = "drve"
    case canSign = "sign"
    case canVerify = "vrfy"
    case canSignRecover = "snrc"
    case canVerifyRecover = "vyrc"
    case canWrap = "wrap"
    case canUnwrap = "unwp"

    /// The four ASCII letters of the code as one number, the first letter in the most significant
    /// byte, so that codes sort like their letters.
    public var code: UInt32 { rawValue.utf8.reduce(0) { $0 << 8 | UInt32($1) } }

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

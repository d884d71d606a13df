// SPDX-License-Identifier: Apache-2.0

// The item classes and the names of their attributes. The strings are Apple's: the four-letter columns of
// keychain-behaviour §1.4. That section also lists value kinds, defaults and the attributes of the primary key.
//
// Every `nonisolated(unsafe)` in this file stands for one reason: because the constant is an
// immutable string that is never replaced. Foundation on Linux declares NSString non-Sendable only
// because of NSMutableString. (A conformance of NSString instead always causes the warning "already
// stated in the type's module", and Apple's CFString is not Sendable either.)

public import Foundation

// MARK: Classes

/// The item class of a query: one of the `kSecClass…` values.
nonisolated(unsafe) public let kSecClass: CFString = "class"
/// A password for any purpose; unique by account, service and access group.
nonisolated(unsafe) public let kSecClassGenericPassword: CFString = "genp"
/// A password for a server; unique by account, server, protocol, port, path and access group, among
/// others.
nonisolated(unsafe) public let kSecClassInternetPassword: CFString = "inet"
/// An X.509 certificate; unique by type, issuer, serial number and access group.
nonisolated(unsafe) public let kSecClassCertificate: CFString = "cert"
/// A cryptographic key; unique by class, label, tag, type and size, among others.
nonisolated(unsafe) public let kSecClassKey: CFString = "keys"
/// A certificate together with its private key: a view of the two items, not a stored class.
nonisolated(unsafe) public let kSecClassIdentity: CFString = "idnt"
/// A class of old Mac keychains. Unsupported.
nonisolated(unsafe) public let kSecClassAppleSharePassword: CFString = "apls"

// MARK: Attributes of every class

/// When the item can be opened: one of the `kSecAttrAccessible…` values. Excludes
/// `kSecAttrAccessControl`.
nonisolated(unsafe) public let kSecAttrAccessible: CFString = "pdmn"
/// The conditions for using the item: a `SecAccessControl`. Excludes `kSecAttrAccessible`.
nonisolated(unsafe) public let kSecAttrAccessControl: CFString = "accc"
/// The access group of the item: a string. The default is the program's first group.
nonisolated(unsafe) public let kSecAttrAccessGroup: CFString = "agrp"
/// Whether the item may be synchronized to other devices: a Bool, or `kSecAttrSynchronizableAny` in
/// a search.
nonisolated(unsafe) public let kSecAttrSynchronizable: CFString = "sync"
/// The token that holds the item: a string such as `kSecAttrTokenIDSecureEnclave`.
nonisolated(unsafe) public let kSecAttrTokenID: CFString = "tkid"
/// The view for the synchronization of an item: a string, stored and searched like any other attribute. Nothing is
/// synchronized.
nonisolated(unsafe) public let kSecAttrSyncViewHint: CFString = "vwht"
/// The name shown to the user. Text, Data or a number, returned as it was given.
nonisolated(unsafe) public let kSecAttrLabel: CFString = "labl"
/// The time of the item's addition: a Date.
nonisolated(unsafe) public let kSecAttrCreationDate: CFString = "cdat"
/// The time of the last change: a Date.
nonisolated(unsafe) public let kSecAttrModificationDate: CFString = "mdat"
/// The access list of a password or a key: a `SecAccess`, kept and returned without effect. In a
/// search it is not a condition.
nonisolated(unsafe) public let kSecAttrAccess: CFString = "acls"

// MARK: Attributes of passwords

/// The account name. Text, Data or a number, returned as it was given.
nonisolated(unsafe) public let kSecAttrAccount: CFString = "acct"
/// The service of a generic password. Text, Data or a number, returned as it was given.
nonisolated(unsafe) public let kSecAttrService: CFString = "svce"
/// Application data of a generic password. Text, Data or a number, returned as it was given.
nonisolated(unsafe) public let kSecAttrGeneric: CFString = "gena"
/// The kind of item, for display. Text, Data or a number, returned as it was given.
nonisolated(unsafe) public let kSecAttrDescription: CFString = "desc"
/// The user's comment. Text, Data or a number, returned as it was given.
nonisolated(unsafe) public let kSecAttrComment: CFString = "icmt"
/// The code of the program that created the item: four characters in a number.
nonisolated(unsafe) public let kSecAttrCreator: CFString = "crtr"
/// The code of the item's kind: four characters in a number.
nonisolated(unsafe) public let kSecAttrType: CFString = "type"
/// Whether lists hide the item. A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrIsInvisible: CFString = "invi"
/// Whether the item deliberately has no password. A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrIsNegative: CFString = "nega"
/// An alias. Text, Data or a number, returned as it was given.
nonisolated(unsafe) public let kSecAttrAlias: CFString = "alis"
/// The security domain of an internet password. Text, Data or a number, returned as it was given.
nonisolated(unsafe) public let kSecAttrSecurityDomain: CFString = "sdmn"
/// The server: a name or an address. Text, Data or a number, returned as it was given.
nonisolated(unsafe) public let kSecAttrServer: CFString = "srvr"
/// One of the `kSecAttrProtocol…` values.
nonisolated(unsafe) public let kSecAttrProtocol: CFString = "ptcl"
/// One of the `kSecAttrAuthenticationType…` values.
nonisolated(unsafe) public let kSecAttrAuthenticationType: CFString = "atyp"
/// The port. A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrPort: CFString = "port"
/// The path on the server. Text, Data or a number, returned as it was given.
nonisolated(unsafe) public let kSecAttrPath: CFString = "path"
/// The volume of an AppleShare password.
nonisolated(unsafe) public let kSecAttrVolume: CFString = "volm"
/// The address of an AppleShare password.
nonisolated(unsafe) public let kSecAttrAddress: CFString = "addr"
/// The server signature of an AppleShare password.
nonisolated(unsafe) public let kSecAttrAFPServerSignature: CFString = "afps"

// MARK: Attributes of certificates

/// The X.509 version, 1 to 3. A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrCertificateType: CFString = "ctyp"
/// The encoding; 3 for DER. A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrCertificateEncoding: CFString = "cenc"
/// The subject's name in normalized form: Data.
nonisolated(unsafe) public let kSecAttrSubject: CFString = "subj"
/// The issuer's name in normalized form: Data. A DER name in a query is normalized first.
nonisolated(unsafe) public let kSecAttrIssuer: CFString = "issr"
/// The bytes of the serial number: Data.
nonisolated(unsafe) public let kSecAttrSerialNumber: CFString = "slnr"
/// The subject key identifier: Data.
nonisolated(unsafe) public let kSecAttrSubjectKeyID: CFString = "skid"
/// SHA-1 of the public key: 20 bytes of Data. Equals `kSecAttrApplicationLabel` of the key.
nonisolated(unsafe) public let kSecAttrPublicKeyHash: CFString = "pkhh"

// MARK: Attributes of keys

/// One of the `kSecAttrKeyClass…` values; returned as a number.
nonisolated(unsafe) public let kSecAttrKeyClass: CFString = "kcls"
/// One of the `kSecAttrKeyType…` values; returned as a number.
nonisolated(unsafe) public let kSecAttrKeyType: CFString = "type"
/// The size in bits. A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrKeySizeInBits: CFString = "bsiz"
/// The number of effective bits. A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrEffectiveKeySize: CFString = "esiz"
/// Identifies the key to programs: SHA-1 of the public key, as Data.
nonisolated(unsafe) public let kSecAttrApplicationLabel: CFString = "klbl"
/// The program's own name for a key. Text, Data or a number, returned as it was given.
nonisolated(unsafe) public let kSecAttrApplicationTag: CFString = "atag"
/// The code of the program that created the key: four characters in a number.
nonisolated(unsafe) public let kSecAttrKeyCreator: CFString = "crtr"
/// Whether a generated key is stored immediately: a Bool.
nonisolated(unsafe) public let kSecAttrIsPermanent: CFString = "perm"
/// A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrIsPrivate: CFString = "priv"
/// A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrIsModifiable: CFString = "modi"
/// Whether the key can be exported only in encrypted form. A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrIsSensitive: CFString = "sens"
/// Whether the key can be exported. A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrIsExtractable: CFString = "extr"
/// A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrWasAlwaysSensitive: CFString = "asen"
/// A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrWasNeverExtractable: CFString = "next"
/// A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrCanEncrypt: CFString = "encr"
/// A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrCanDecrypt: CFString = "decr"
/// A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrCanDerive: CFString = "drve"
/// A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrCanSign: CFString = "sign"
/// A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrCanVerify: CFString = "vrfy"
/// A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrCanSignRecover: CFString = "snrc"
/// A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrCanVerifyRecover: CFString = "vyrc"
/// A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrCanWrap: CFString = "wrap"
/// A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrCanUnwrap: CFString = "unwp"
/// A Date.
nonisolated(unsafe) public let kSecAttrStartDate: CFString = "sdat"
/// A Date.
nonisolated(unsafe) public let kSecAttrEndDate: CFString = "edat"
/// The pseudo-random function that derives a key: one of the `kSecAttrPRFHmacAlg…` values.
nonisolated(unsafe) public let kSecAttrPRF: CFString = "prf"
/// The salt of the key derivation: Data.
nonisolated(unsafe) public let kSecAttrSalt: CFString = "salt"
/// The number of iterations of the key derivation. A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrRounds: CFString = "rounds"

// MARK: Not in Apple's public headers

/// The older name of `kSecUseDataProtectionKeychain`.
nonisolated(unsafe) public let kSecAttrNoLegacy: CFString = "nleg"
/// The script of the text attributes. A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrScriptCode: CFString = "scrp"
/// A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrHasCustomIcon: CFString = "cusi"
/// The type of a certificate revocation list: an attribute of no item class.
nonisolated(unsafe) public let kSecAttrCRLType: CFString = "crlt"
/// The encoding of a certificate revocation list: an attribute of no item class.
nonisolated(unsafe) public let kSecAttrCRLEncoding: CFString = "crle"
/// Whether the row only records a deletion. A number, a Bool or a numeric string.
nonisolated(unsafe) public let kSecAttrTombstone: CFString = "tomb"
/// A digest of the item: 20 bytes of Data.
nonisolated(unsafe) public let kSecAttrSHA1: CFString = "sha1"
/// The user of a shared device: 16 bytes of Data, or none.
nonisolated(unsafe) public let kSecAttrMultiUser: CFString = "musr"
/// The group that the user shares the item with: a string.
nonisolated(unsafe) public let kSecAttrSharingGroup: CFString = "ggrp"
/// Rejected with `errSecParam` in every dictionary of a program.
nonisolated(unsafe) public let kSecAttrAppClipItem: CFString = "clip"
/// The UUID of the item: 16 bytes of Data. The spelling is Apple's.
nonisolated(unsafe) public let kSecAttrPersistantReference: CFString = "persistref"
/// The name of a column in Apple's database, for source code that excludes it from the attributes
/// it copies. As with Apple, every call rejects it (errSecParam) and no result contains it. Use
/// `kSecReturnPersistentRef` and `kSecValuePersistentRef`.
nonisolated(unsafe) public let kSecAttrPersistentReference: CFString = "persistref"
/// The token's name for the object: Data.
nonisolated(unsafe) public let kSecAttrTokenOID: CFString = "toid"
/// The certificate in the attributes of an identity: DER in Data.
nonisolated(unsafe) public let kSecAttrIdentityCertificateData: CFString = "certdata"
/// A secret field of an internet password, separate from the password: Data. Returned with
/// `kSecReturnData` only.
nonisolated(unsafe) public let kSecDataInetExtraNotes: CFString = "binn"
/// See `kSecDataInetExtraNotes`.
nonisolated(unsafe) public let kSecDataInetExtraHistory: CFString = "bini"
/// See `kSecDataInetExtraNotes`.
nonisolated(unsafe) public let kSecDataInetExtraClientDefined0: CFString = "bin0"
/// See `kSecDataInetExtraNotes`.
nonisolated(unsafe) public let kSecDataInetExtraClientDefined1: CFString = "bin1"
/// See `kSecDataInetExtraNotes`.
nonisolated(unsafe) public let kSecDataInetExtraClientDefined2: CFString = "bin2"
/// See `kSecDataInetExtraNotes`.
nonisolated(unsafe) public let kSecDataInetExtraClientDefined3: CFString = "bin3"

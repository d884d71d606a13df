// SPDX-License-Identifier: Apache-2.0

/// The tags of the attributes in a ``SecKeychainAttributeList``.
public enum SecItemAttr: FourCharCode, Sendable {
    /// When the item was created: the text `YYYYMMDDhhmmssZ` with a zero byte. Read only.
    case creationDateItemAttr = 0x6364_6174
    /// When the item was changed, as ``creationDateItemAttr``. Read only.
    case modDateItemAttr = 0x6D64_6174
    /// The kind of the item: a string.
    case descriptionItemAttr = 0x6465_7363
    /// A comment: a string.
    case commentItemAttr = 0x6963_6D74
    /// The code of the program that created it: a number.
    case creatorItemAttr = 0x6372_7472
    /// The code of its type: a number.
    case typeItemAttr = 0x7479_7065
    /// The script of its text: a number.
    case scriptCodeItemAttr = 0x7363_7270
    /// The label: a string.
    case labelItemAttr = 0x6C61_626C
    /// Whether it is hidden: a number.
    case invisibleItemAttr = 0x696E_7669
    /// Whether the password must not be stored: a number.
    case negativeItemAttr = 0x6E65_6761
    /// Whether it has an icon of its own: a number.
    case customIconItemAttr = 0x6375_7369
    /// The account: a string.
    case accountItemAttr = 0x6163_6374
    /// The service of a generic password: a string.
    case serviceItemAttr = 0x7376_6365
    /// Any bytes of a generic password.
    case genericItemAttr = 0x6765_6E61
    /// The security domain of an internet password: a string.
    case securityDomainItemAttr = 0x7364_6D6E
    /// The server of an internet password: a string.
    case serverItemAttr = 0x7372_7672
    /// A ``SecAuthenticationType``.
    case authenticationTypeItemAttr = 0x6174_7970
    /// The port of an internet password: a number.
    case portItemAttr = 0x706F_7274
    /// The path of an internet password: a string.
    case pathItemAttr = 0x7061_7468
    /// Unsupported, as are the address and the signature: of AppleShare.
    case volumeItemAttr = 0x766C_6D65
    /// Unsupported.
    case addressItemAttr = 0x6164_6472
    /// Unsupported.
    case signatureItemAttr = 0x7373_6967
    /// A ``SecProtocolType``.
    case protocolItemAttr = 0x7074_636C
    /// Unsupported, as are the others: certificates have no such item.
    case certificateType = 0x6374_7970
    /// Unsupported.
    case certificateEncoding = 0x6365_6E63
    /// Unsupported.
    case crlType = 0x6372_7470
    /// Unsupported.
    case crlEncoding = 0x6372_6E63
    /// Unsupported.
    case alias = 0x616C_6973
}

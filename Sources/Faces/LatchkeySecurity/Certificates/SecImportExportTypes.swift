// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The formats of files that hold keys and certificates.
public enum SecExternalFormat: UInt32, Sendable {
    /// Import detects the format; export uses the default format.
    case formatUnknown = 0
    /// PKCS #1, SEC 1 and SubjectPublicKeyInfo.
    case formatOpenSSL = 1
    /// Unsupported, as are the cases down to WrappedLSH, except BSAFE and PKCS #8.
    case formatSSH = 2
    /// The raw bytes of a key.
    case formatBSAFE = 3
    /// Unsupported.
    case formatRawKey = 4
    /// Encrypted PKCS #8.
    case formatWrappedPKCS8 = 5
    /// Unsupported.
    case formatWrappedOpenSSL = 6
    /// Unsupported.
    case formatWrappedSSH = 7
    /// Unsupported.
    case formatWrappedLSH = 8
    /// One certificate.
    case formatX509Cert = 9
    /// Several items in PEM.
    case formatPEMSequence = 10
    /// Certificates only.
    case formatPKCS7 = 11
    /// Certificates and private keys, protected by a passphrase.
    case formatPKCS12 = 12
    /// Unsupported.
    case formatNetscapeCertSequence = 13
    /// An OpenSSH public key.
    case formatSSHv2 = 14
}

/// The kind of content of a file.
public enum SecExternalItemType: UInt32, Sendable {
    /// Any kind.
    case itemTypeUnknown = 0
    /// A private key.
    case itemTypePrivateKey = 1
    /// A public key.
    case itemTypePublicKey = 2
    /// A symmetric key.
    case itemTypeSessionKey = 3
    /// A certificate.
    case itemTypeCertificate = 4
    /// Several items.
    case itemTypeAggregate = 5
}

/// Options for the import and export of items.
public struct SecItemImportExportFlags: OptionSet, Sendable {
    /// The bits of the set, as in Apple's headers.
    public let rawValue: UInt32
    /// A set from its bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// PEM text instead of DER.
    public static let pemArmour = SecItemImportExportFlags(rawValue: 1)
}

/// Options for the import and export of keys.
public struct SecKeyImportExportFlags: OptionSet, Sendable {
    /// The bits of the set, as in Apple's headers.
    public let rawValue: UInt32
    /// A set from its bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Fail with errSecMultiplePrivKeys if the file holds several private keys.
    public static let importOnlyOne = SecKeyImportExportFlags(rawValue: 1)
    /// Unsupported: the user cannot be asked for a passphrase.
    public static let securePassphrase = SecKeyImportExportFlags(rawValue: 2)
    /// Accepted and ignored: access groups separate programs.
    public static let noAccessControl = SecKeyImportExportFlags(rawValue: 4)
}

/// Parameters for the import or export of keys.
public struct SecItemImportExportKeyParameters {
    /// The version of the structure: 0.
    public var version: UInt32
    /// The options.
    public var flags: SecKeyImportExportFlags
    /// A string or Data.
    public var passphrase: Unmanaged<CFTypeRef>?
    /// Not used, like the prompt, because the user is never asked.
    public var alertTitle: Unmanaged<CFString>?
    /// Not used.
    public var alertPrompt: Unmanaged<CFString>?
    /// A `SecAccess` for keys that are stored in a keychain: kept without effect.
    public var accessRef: Unmanaged<CFTypeRef>?
    /// The operations that imported keys may perform; nil for all.
    public var keyUsage: Unmanaged<CFArray>?
    /// The attributes of imported keys: `kSecAttrIsExtractable` and others.
    public var keyAttributes: Unmanaged<CFArray>?

    /// Creates parameters, as C does with the fields in this order.
    public init(
        version: UInt32 = 0, flags: SecKeyImportExportFlags = [], passphrase: Unmanaged<CFTypeRef>? = nil,
        alertTitle: Unmanaged<CFString>? = nil, alertPrompt: Unmanaged<CFString>? = nil,
        accessRef: Unmanaged<CFTypeRef>? = nil,
        keyUsage: Unmanaged<CFArray>? = nil, keyAttributes: Unmanaged<CFArray>? = nil
    ) {
        self.version = version
        self.flags = flags
        self.passphrase = passphrase
        self.alertTitle = alertTitle
        self.alertPrompt = alertPrompt
        self.accessRef = accessRef
        self.keyUsage = keyUsage
        self.keyAttributes = keyAttributes
    }
}

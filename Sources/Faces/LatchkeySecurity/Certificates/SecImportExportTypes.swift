// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The formats of files of keys and certificates.
public enum SecExternalFormat: UInt32, Sendable {
    /// To be found out; for export the usual one.
    case formatUnknown = 0
    /// PKCS #1, SEC 1 and SubjectPublicKeyInfo.
    case formatOpenSSL = 1
    /// Known by name only, as those down to WrappedLSH are, but for BSAFE and PKCS #8.
    case formatSSH = 2
    /// The bare bytes of a key.
    case formatBSAFE = 3
    case formatRawKey = 4
    /// PKCS #8, encrypted.
    case formatWrappedPKCS8 = 5
    case formatWrappedOpenSSL = 6
    case formatWrappedSSH = 7
    case formatWrappedLSH = 8
    /// One certificate.
    case formatX509Cert = 9
    /// PEM of several items.
    case formatPEMSequence = 10
    /// Certificates alone.
    case formatPKCS7 = 11
    /// Certificates and private keys under a passphrase.
    case formatPKCS12 = 12
    /// Known by name only.
    case formatNetscapeCertSequence = 13
    /// OpenSSH's public key.
    case formatSSHv2 = 14
}

/// What a file holds.
public enum SecExternalItemType: UInt32, Sendable {
    case itemTypeUnknown = 0
    case itemTypePrivateKey = 1
    case itemTypePublicKey = 2
    case itemTypeSessionKey = 3
    case itemTypeCertificate = 4
    /// Several.
    case itemTypeAggregate = 5
}

/// How items are imported and exported.
public struct SecItemImportExportFlags: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Text in place of DER.
    public static let pemArmour = SecItemImportExportFlags(rawValue: 1)
}

/// How keys are imported and exported.
public struct SecKeyImportExportFlags: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// errSecMultiplePrivKeys where there are several.
    public static let importOnlyOne = SecKeyImportExportFlags(rawValue: 1)
    /// Not served: nobody is asked for a passphrase.
    public static let securePassphrase = SecKeyImportExportFlags(rawValue: 2)
    /// Accepted; programs are kept apart by access groups.
    public static let noAccessControl = SecKeyImportExportFlags(rawValue: 4)
}

/// What an import or an export of keys is given.
public struct SecItemImportExportKeyParameters {
    public var version: UInt32
    public var flags: SecKeyImportExportFlags
    /// A string or Data.
    public var passphrase: Unmanaged<CFTypeRef>?
    /// Not used, as the prompt is not: nobody is asked.
    public var alertTitle: Unmanaged<CFString>?
    public var alertPrompt: Unmanaged<CFString>?
    /// Not used.
    public var accessRef: Unmanaged<CFTypeRef>?
    public var keyUsage: Unmanaged<CFArray>?
    public var keyAttributes: Unmanaged<CFArray>?

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

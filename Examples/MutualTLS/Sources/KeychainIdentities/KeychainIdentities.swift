// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// The identities of the keychain, and attempts to export them.
public enum KeychainIdentities {
    public static func identity(label: String) -> SecIdentity? {
        let query: [CFString: Any] = [kSecClass: kSecClassIdentity, kSecAttrLabel: label, kSecReturnRef: true]
        var result: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess else { return nil }
        return result as? SecIdentity
    }

    /// Tries every way to read the private key of an identity.
    ///
    /// - Returns: the answer of each call.
    public static func exportAttempts(of identity: SecIdentity) -> [(call: String, answer: Result<Void, ExportError>)] {
        var key: SecKey?
        SecIdentityCopyPrivateKey(identity, &key)
        guard let key else { return [("SecIdentityCopyPrivateKey", .failure(ExportError("no key")))] }
        var error: Unmanaged<CFError>?
        let external = SecKeyCopyExternalRepresentation(key, &error)
        let reason = error?.takeRetainedValue()
        return [
            ("SecKeyCopyExternalRepresentation", result(external != nil, "\(reason.map { "\($0.code)" } ?? "")")),
            ("SecItemExport of the key", export(key, .formatWrappedPKCS8)),
            ("SecItemExport of the identity", export(identity, .formatPKCS12)),
        ]
    }

    /// Whether the keychain has the key as extractable; nil if it has no such key.
    public static func isExtractable(label: String) -> Bool? {
        let query: [CFString: Any] = [
            kSecClass: kSecClassKey, kSecAttrLabel: label, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
            kSecReturnAttributes: true,
        ]
        var result: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess else { return nil }
        return (result as? [CFString: Any])?[kSecAttrIsExtractable] as? Bool
    }

    private static func export(_ item: CFTypeRef, _ format: SecExternalFormat) -> Result<Void, ExportError> {
        let passphrase: CFTypeRef = "of the file" as CFString
        var data: CFData?
        let status = withExtendedLifetime(passphrase) {
            var parameters = SecItemImportExportKeyParameters()
            parameters.passphrase = Unmanaged.passUnretained(passphrase)
            return SecItemExport(item, format, [], &parameters, &data)
        }
        return result(status == errSecSuccess, "\(status)")
    }

    private static func result(_ isExported: Bool, _ status: String) -> Result<Void, ExportError> {
        isExported ? .success(()) : .failure(ExportError(status))
    }
}

/// Why a key was not exported.
public struct ExportError: Error {
    public let status: String

    init(_ status: String) {
        self.status = status
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// A secret with its own conditions for reading it.
struct AccessControlledItem {
    let service: String
    let account: String

    /// Returns the access control of an item with these flags.
    ///
    /// - Throws: an `NSError` of `NSOSStatusErrorDomain` when the flags contradict each other.
    static func accessControl(
        _ flags: SecAccessControlCreateFlags,
        protection: CFString = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
    ) throws -> SecAccessControl {
        var error: Unmanaged<CFError>?
        guard let accessControl = SecAccessControlCreateWithFlags(kCFAllocatorDefault, protection, flags, &error) else {
            // Where there is no access control, there is an error.
            // swift-format-ignore: NeverForceUnwrap
            throw error!.takeRetainedValue() as Error
        }
        return accessControl
    }

    /// Stores a new secret.
    func save(_ secret: Data, flags: SecAccessControlCreateFlags = []) throws {
        let accessControl = try Self.accessControl(flags)
        let query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword,
            kSecAttrService: service,
            kSecAttrAccount: account,
            kSecAttrAccessControl: accessControl,
            kSecValueData: secret,
        ]

        let status = SecItemAdd(query as CFDictionary, nil)
        guard status == errSecSuccess else { throw KeychainError.unhandled(status) }
    }

    /// The secret.
    func load() throws -> Data {
        let query =
            [
                kSecClass: kSecClassGenericPassword,
                kSecAttrService: service,
                kSecAttrAccount: account,
                kSecReturnData: true,
            ] as CFDictionary

        var result: CFTypeRef?
        let status = SecItemCopyMatching(query, &result)
        guard status != errSecItemNotFound else { throw KeychainError.notFound }
        guard status == errSecSuccess else { throw KeychainError.unhandled(status) }
        guard let secret = result as? Data else { throw KeychainError.unexpectedData }
        return secret
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthentication
import Security

/// A secret with an access control.
public struct GuardedItem {
    public enum Failure: Error {
        /// The access control was refused.
        case accessControl(CFError?)
        case status(OSStatus)
        case noData
    }

    public let service: String
    public let account: String

    public init(service: String, account: String) {
        self.service = service
        self.account = account
    }

    /// Returns the access control of an item with these flags.
    public static func accessControl(_ flags: SecAccessControlCreateFlags) throws -> SecAccessControl {
        var error: Unmanaged<CFError>?
        let accessControl = SecAccessControlCreateWithFlags(
            kCFAllocatorDefault, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, flags, &error)
        guard let created = accessControl else { throw Failure.accessControl(error?.takeRetainedValue()) }
        return created
    }

    /// Stores a new secret.
    public func store(_ secret: Data, flags: SecAccessControlCreateFlags, context: LAContext? = nil) throws {
        var item = query
        item[kSecAttrAccessControl as String] = try Self.accessControl(flags)
        item[kSecValueData as String] = secret
        if let context = context { item[kSecUseAuthenticationContext as String] = context }
        let status = SecItemAdd(item as CFDictionary, nil)
        guard status == errSecSuccess else { throw Failure.status(status) }
    }

    /// Returns the secret, with the owner's authentication in the context.
    public func secret(_ context: LAContext) throws -> Data {
        var query = self.query
        query[kSecUseAuthenticationContext as String] = context
        query[kSecReturnData as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        guard status == errSecSuccess else { throw Failure.status(status) }
        guard let secret = result as? Data else { throw Failure.noData }
        return secret
    }

    /// Removes the secret. It is no error if there is none.
    public func remove() throws {
        let status = SecItemDelete(query as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw Failure.status(status) }
    }

    private var query: [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: account,
        ]
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// The tokens of the app's accounts.
public final class KeychainStore: Sendable {
    public enum Failure: Error, Equatable {
        case notText
        case status(OSStatus)
    }

    private let service: String

    public init(service: String = "com.example.account") {
        self.service = service
    }

    /// Stores a token, whether or not the account has one.
    public func save(_ token: String, for account: String) throws {
        var item = query(account)
        item[kSecAttrAccessible as String] = kSecAttrAccessibleAfterFirstUnlock
        item[kSecValueData as String] = Data(token.utf8)
        var status = SecItemAdd(item as CFDictionary, nil)
        if status == errSecDuplicateItem {
            let change: [String: Any] = [kSecValueData as String: Data(token.utf8)]
            status = SecItemUpdate(query(account) as CFDictionary, change as CFDictionary)
        }
        guard status == errSecSuccess else { throw Failure.status(status) }
    }

    /// Returns the token; nil if the account has none.
    public func token(for account: String) throws -> String? {
        var query = query(account)
        query[kSecReturnData as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess else { throw Failure.status(status) }
        guard let data = result as? Data, let token = String(data: data, encoding: .utf8) else { throw Failure.notText }
        return token
    }

    /// Returns the accounts that have a token, sorted.
    public func accounts() throws -> [String] {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecUseDataProtectionKeychain as String: true,
            kSecReturnAttributes as String: true,
            kSecMatchLimit as String: kSecMatchLimitAll,
        ]
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        if status == errSecItemNotFound { return [] }
        guard status == errSecSuccess else { throw Failure.status(status) }
        let items = result as? [[String: Any]] ?? []
        return items.compactMap { $0[kSecAttrAccount as String] as? String }.sorted()
    }

    /// Removes the token. It is no error if the account has none.
    public func removeToken(for account: String) throws {
        let status = SecItemDelete(query(account) as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw Failure.status(status) }
    }

    private func query(_ account: String) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: account,
            kSecUseDataProtectionKeychain as String: true,
        ]
    }
}

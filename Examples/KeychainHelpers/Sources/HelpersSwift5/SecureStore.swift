// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// Texts by account, in a place that a `SecureStoreQueryable` describes: a service or a server.
struct SecureStore {
    let queryable: any SecureStoreQueryable

    /// Stores the value, whether or not the account has one: looks, then updates or adds.
    func setValue(_ value: String, for account: String) throws {
        var query = queryable.query
        query[String(kSecAttrAccount)] = account

        var status = SecItemCopyMatching(query as CFDictionary, nil)
        switch status {
        case errSecSuccess:
            var attributesToUpdate: [String: Any] = [:]
            attributesToUpdate[String(kSecValueData)] = Data(value.utf8)

            status = SecItemUpdate(query as CFDictionary, attributesToUpdate as CFDictionary)
            if status != errSecSuccess { throw KeychainError.unhandled(status) }
        case errSecItemNotFound:
            query[String(kSecValueData)] = Data(value.utf8)

            status = SecItemAdd(query as CFDictionary, nil)
            if status != errSecSuccess { throw KeychainError.unhandled(status) }
        default:
            throw KeychainError.unhandled(status)
        }
    }

    /// The account's value; nil when it has none.
    func value(for account: String) throws -> String? {
        var query = queryable.query
        query[String(kSecAttrAccount)] = account
        query[String(kSecMatchLimit)] = kSecMatchLimitOne
        query[String(kSecReturnAttributes)] = kCFBooleanTrue
        query[String(kSecReturnData)] = kCFBooleanTrue

        var result: AnyObject?
        let status = withUnsafeMutablePointer(to: &result) {
            SecItemCopyMatching(query as CFDictionary, $0)
        }

        switch status {
        case errSecSuccess:
            guard
                let item = result as? [String: Any],
                let data = item[String(kSecValueData)] as? Data,
                let value = String(data: data, encoding: .utf8)
            else { throw KeychainError.unexpectedData }
            return value
        case errSecItemNotFound:
            return nil
        default:
            throw KeychainError.unhandled(status)
        }
    }

    /// Forgets the account's value. That there is none is no error.
    func removeValue(for account: String) throws {
        var query = queryable.query
        query[String(kSecAttrAccount)] = account
        try delete(query)
    }

    /// Forgets the values of all accounts of this service or server, and nothing else.
    func removeAllValues() throws {
        try delete(queryable.query)
    }

    private func delete(_ query: [String: Any]) throws {
        let status = SecItemDelete(query as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw KeychainError.unhandled(status) }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// A wrapper of the keychain, as articles about it have one.
struct SecureStore {
    let service: String

    func setValue(_ value: String, for account: String) throws {
        var query = self.query(account)
        let attributes = [kSecValueData as String: Data(value.utf8)]
        switch SecItemCopyMatching(query as CFDictionary, nil) {
        case errSecSuccess: try check(SecItemUpdate(query as CFDictionary, attributes as CFDictionary))
        case errSecItemNotFound:
            query[kSecValueData as String] = Data(value.utf8)
            query[kSecAttrAccessible as String] = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
            try check(SecItemAdd(query as CFDictionary, nil))
        case let status: try check(status)
        }
    }

    func value(for account: String) throws -> String? {
        var query = self.query(account)
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        query[kSecReturnData as String] = kCFBooleanTrue
        var result: AnyObject?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        if status == errSecItemNotFound { return nil }
        try check(status)
        return (result as? Data).map { String(decoding: $0, as: UTF8.self) }
    }

    func removeAllValues() throws {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
        ]
        try check(SecItemDelete(query as CFDictionary))
    }

    private func query(_ account: String) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecAttrAccount as String: account,
        ]
    }

    private func check(_ status: OSStatus) throws {
        guard status == errSecSuccess else { throw NSError(domain: NSOSStatusErrorDomain, code: Int(status)) }
    }
}

let store = SecureStore(service: "documents")
try store.setValue("one", for: "pin")
try store.setValue("two", for: "pin")
print(try store.value(for: "pin") ?? "nil")
try store.removeAllValues()
print(try store.value(for: "pin") ?? "nil")

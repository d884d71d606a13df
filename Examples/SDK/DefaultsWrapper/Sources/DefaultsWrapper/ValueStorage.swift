// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(Security)
    import Security
#endif

/// Where the values are.
protocol ValueStorage {
    func data(forKey key: String) -> Data?
    func set(_ value: Data, forKey key: String) -> Bool
    /// Removes one value; all of them if the key is nil.
    func remove(_ key: String?) -> Bool
    func allKeys() -> Set<String>
}

#if canImport(Security)
    extension KeychainDefaults {
        /// Whether values are in the keychain, and not in memory.
        public static let usesKeychain = true
    }

    func makeStorage(_ serviceName: String) -> ValueStorage {
        KeychainStorage(serviceName: serviceName)
    }

    struct KeychainStorage: ValueStorage {
        let serviceName: String

        func data(forKey key: String) -> Data? {
            copy(query(key), kSecReturnData, kSecMatchLimitOne) as? Data
        }

        func set(_ value: Data, forKey key: String) -> Bool {
            let query = self.query(key)
            var item = query
            item[kSecValueData as String] = value
            item[kSecAttrAccessible as String] = kSecAttrAccessibleWhenUnlocked
            let status = SecItemAdd(item as CFDictionary, nil)
            guard status == errSecDuplicateItem else { return status == errSecSuccess }
            let change = [kSecValueData: value]
            return SecItemUpdate(query as CFDictionary, change as CFDictionary) == errSecSuccess
        }

        func remove(_ key: String?) -> Bool {
            SecItemDelete(query(key) as CFDictionary) == errSecSuccess
        }

        func allKeys() -> Set<String> {
            let items = copy(query(nil), kSecReturnAttributes, kSecMatchLimitAll) as? [[AnyHashable: Any]] ?? []
            // Another program may have stored text.
            let keys = items.compactMap { item -> String? in
                let account = item[kSecAttrAccount]
                return (account as? Data).flatMap { String(data: $0, encoding: .utf8) } ?? account as? String
            }
            return Set(keys)
        }

        private func copy(_ query: [String: Any], _ returnKey: CFString, _ limit: CFString) -> AnyObject? {
            var query = query
            query[returnKey as String] = kCFBooleanTrue
            query[kSecMatchLimit as String] = limit
            var result: AnyObject?
            let status = withUnsafeMutablePointer(to: &result) {
                SecItemCopyMatching(query as CFDictionary, UnsafeMutablePointer($0))
            }
            return status == errSecSuccess ? result : nil
        }

        /// The keys are stored as bytes, in the account and in the generic attribute.
        private func query(_ key: String?) -> [String: Any] {
            var query: [String: Any] = [kSecClass as String: kSecClassGenericPassword]
            query[kSecAttrService as String] = serviceName
            if let key = key {
                query[kSecAttrGeneric as String] = Data(key.utf8)
                query[kSecAttrAccount as String] = Data(key.utf8)
            }
            return query
        }
    }
#else
    extension KeychainDefaults {
        /// Whether values are in the keychain, and not in memory.
        public static let usesKeychain = false
    }

    func makeStorage(_ serviceName: String) -> ValueStorage {
        MemoryStorage()
    }

    /// The values of a platform without a keychain end with the program.
    final class MemoryStorage: ValueStorage {
        private var values: [String: Data] = [:]

        func data(forKey key: String) -> Data? {
            values[key]
        }

        func set(_ value: Data, forKey key: String) -> Bool {
            values[key] = value
            return true
        }

        func remove(_ key: String?) -> Bool {
            if let key = key { return values.removeValue(forKey: key) != nil }
            defer { values = [:] }
            return !values.isEmpty
        }

        func allKeys() -> Set<String> {
            Set(values.keys)
        }
    }
#endif

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// The keychain as a dictionary that outlives the program, in the manner of `UserDefaults`.
///
/// ```swift
/// KeychainWrapper.standard["token"] = "s3cret"
/// let launches: Int? = KeychainWrapper.standard[.launches]
/// ```
final class KeychainWrapper: Sendable {
    /// The values of this program.
    static let standard = KeychainWrapper()

    let serviceName: String
    /// The group of programs that share the values; nil for the program's first.
    let accessGroup: String?

    private convenience init() {
        self.init(serviceName: Bundle.main.bundleIdentifier ?? "KeychainWrapper")
    }

    init(serviceName: String, accessGroup: String? = nil) {
        self.serviceName = serviceName
        self.accessGroup = accessGroup
    }

    // MARK: Looking

    func hasValue(forKey key: String) -> Bool {
        data(forKey: key) != nil
    }

    /// When the value can be read; nil when there is none.
    func accessibilityOfKey(_ key: String) -> KeychainItemAccessibility? {
        guard
            let attributes = copy(kSecReturnAttributes, forKey: key) as? [String: Any],
            let value = attributes[kSecAttrAccessible as String] as? String
        else { return nil }
        return KeychainItemAccessibility(attributeValue: value as CFString)
    }

    /// The keys of all values.
    func allKeys() -> Set<String> {
        var query = self.query()
        query[kSecMatchLimit as String] = kSecMatchLimitAll
        query[kSecReturnAttributes as String] = kCFBooleanTrue

        var result: AnyObject?
        let status = withUnsafeMutablePointer(to: &result) {
            SecItemCopyMatching(query as CFDictionary, UnsafeMutablePointer($0))
        }
        guard status == errSecSuccess, let results = result as? [[AnyHashable: Any]] else { return [] }

        var keys = Set<String>()
        for attributes in results {
            // This class stores keys as Data; another program may have stored text.
            if let data = attributes[kSecAttrAccount] as? Data, let key = String(data: data, encoding: .utf8) {
                keys.insert(key)
            } else if let key = attributes[kSecAttrAccount] as? String {
                keys.insert(key)
            }
        }
        return keys
    }

    // MARK: Reading

    func data(forKey key: String) -> Data? {
        copy(kSecReturnData, forKey: key) as? Data
    }

    func string(forKey key: String) -> String? {
        data(forKey: key).flatMap { String(data: $0, encoding: .utf8) }
    }

    func integer(forKey key: String) -> Int? {
        decode(forKey: key)
    }

    func bool(forKey key: String) -> Bool? {
        decode(forKey: key)
    }

    /// A name of the value that stays valid when the value or its key changes; nil when there is no such value.
    func dataRef(forKey key: String) -> Data? {
        copy(kSecReturnPersistentRef, forKey: key) as? Data
    }

    /// The value that `dataRef(forKey:)` named.
    func data(forRef reference: Data) -> Data? {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecValuePersistentRef as String: reference,
            kSecReturnData as String: true,
        ]

        var result: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess else { return nil }
        return result as? Data
    }

    // MARK: Writing

    /// Stores the value, whether or not there was one.
    ///
    /// - Parameter accessibility: nil for the usual one, or for the one that the value has already.
    /// - Returns: whether it is stored.
    @discardableResult
    func set(_ value: Data, forKey key: String, withAccessibility accessibility: KeychainItemAccessibility? = nil)
        -> Bool
    {
        var attributes: [String: Any] = [kSecValueData as String: value]
        if let accessibility = accessibility {
            attributes[kSecAttrAccessible as String] = accessibility.attributeValue
        }

        let query = self.query(forKey: key)
        let item = query.merging(attributes) { _, new in new }
        let status = SecItemAdd(item as CFDictionary, nil)
        guard status == errSecDuplicateItem else { return status == errSecSuccess }
        return SecItemUpdate(query as CFDictionary, attributes as CFDictionary) == errSecSuccess
    }

    @discardableResult
    func set(_ value: String, forKey key: String, withAccessibility accessibility: KeychainItemAccessibility? = nil)
        -> Bool
    {
        set(Data(value.utf8), forKey: key, withAccessibility: accessibility)
    }

    @discardableResult
    func set(_ value: Int, forKey key: String, withAccessibility accessibility: KeychainItemAccessibility? = nil)
        -> Bool
    {
        guard let data = encode(value) else { return false }
        return set(data, forKey: key, withAccessibility: accessibility)
    }

    @discardableResult
    func set(_ value: Bool, forKey key: String, withAccessibility accessibility: KeychainItemAccessibility? = nil)
        -> Bool
    {
        guard let data = encode(value) else { return false }
        return set(data, forKey: key, withAccessibility: accessibility)
    }

    // MARK: Removing

    /// - Returns: whether there was a value.
    @discardableResult
    func removeObject(forKey key: String) -> Bool {
        SecItemDelete(query(forKey: key) as CFDictionary) == errSecSuccess
    }

    /// - Returns: whether there were any values.
    @discardableResult
    func removeAllKeys() -> Bool {
        SecItemDelete(query() as CFDictionary) == errSecSuccess
    }

    // MARK: Helpers

    /// The query for one value, or for all.
    private func query(forKey key: String? = nil) -> [String: Any] {
        var query: [String: Any] = [kSecClass as String: kSecClassGenericPassword]
        query[kSecAttrService as String] = serviceName
        if let key = key {
            query[kSecAttrAccount as String] = Data(key.utf8)
        }
        if let accessGroup = accessGroup {
            query[kSecAttrAccessGroup as String] = accessGroup
        }
        return query
    }

    private func copy(_ returnKey: CFString, forKey key: String) -> CFTypeRef? {
        var query = self.query(forKey: key)
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        query[returnKey as String] = kCFBooleanTrue

        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        return status == errSecSuccess ? result : nil
    }

    private func encode<Value: Encodable>(_ value: Value) -> Data? {
        try? JSONEncoder().encode(value)
    }

    private func decode<Value: Decodable>(forKey key: String) -> Value? {
        data(forKey: key).flatMap { try? JSONDecoder().decode(Value.self, from: $0) }
    }
}

// MARK: Subscripts

extension KeychainWrapper {
    /// A key with a name of its own: `extension KeychainWrapper.Key { static let launches = KeychainWrapper.Key("launches") }`.
    struct Key: Hashable, Sendable {
        let rawValue: String

        init(_ rawValue: String) {
            self.rawValue = rawValue
        }
    }

    /// The text of a key. Assigning nil removes it.
    subscript(key: String) -> String? {
        get { string(forKey: key) }
        set {
            if let value = newValue {
                set(value, forKey: key)
            } else {
                removeObject(forKey: key)
            }
        }
    }

    subscript(key: Key) -> String? {
        get { self[key.rawValue] }
        set { self[key.rawValue] = newValue }
    }

    subscript(key: Key) -> Int? {
        get { integer(forKey: key.rawValue) }
        set {
            if let value = newValue {
                set(value, forKey: key.rawValue)
            } else {
                removeObject(forKey: key.rawValue)
            }
        }
    }

    subscript(key: Key) -> Bool? {
        get { bool(forKey: key.rawValue) }
        set {
            if let value = newValue {
                set(value, forKey: key.rawValue)
            } else {
                removeObject(forKey: key.rawValue)
            }
        }
    }
}

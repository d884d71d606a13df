// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// A place for secrets with one identifier and one accessibility.
public final class SecureBox {
    public let configuration: Configuration

    /// Returns the box of an identifier and an accessibility: always the same object.
    public static func box(with identifier: Identifier, accessibility: Accessibility) -> SecureBox {
        let configuration = Configuration(identifier: identifier, accessibility: accessibility)
        lock.lock()
        defer { lock.unlock() }
        if let existing = boxes[configuration] { return existing }
        let box = SecureBox(configuration)
        boxes[configuration] = box
        return box
    }

    private static let lock = NSLock()
    private static var boxes: [Configuration: SecureBox] = [:]

    private init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    /// Whether the keychain stores and returns a value now.
    public func canAccessKeychain() -> Bool {
        let key = "SecureBoxCanary"
        let value = Data(key.utf8)
        do {
            try setObject(value, forKey: key)
            defer { try? removeObject(forKey: key) }
            return try object(forKey: key) == value
        } catch {
            return false
        }
    }

    // MARK: Values

    public func setObject(_ object: Data, forKey key: String) throws {
        guard !key.isEmpty else { throw BoxError.emptyKey }
        guard !object.isEmpty else { throw BoxError.emptyValue }
        let query = configuration.query(key: key)
        let value: [String: AnyHashable] = [kSecValueData as String: object]
        if try containsObject(forKey: key) {
            try check(SecItemUpdate(query as CFDictionary, value as CFDictionary))
        } else {
            try check(SecItemAdd(query.merging(value) { _, new in new } as CFDictionary, nil))
        }
    }

    /// - Throws: `BoxError.itemNotFound` if the key has no value.
    public func object(forKey key: String) throws -> Data {
        try data(matching: configuration.query(key: key))
    }

    public func setString(_ string: String, forKey key: String) throws {
        try setObject(Data(string.utf8), forKey: key)
    }

    /// - Throws: `BoxError.itemNotFound` if the key has no value.
    public func string(forKey key: String) throws -> String {
        guard let string = String(data: try object(forKey: key), encoding: .utf8) else { throw BoxError.notText }
        return string
    }

    public func containsObject(forKey key: String) throws -> Bool {
        let status = SecItemCopyMatching(configuration.query(key: key) as CFDictionary, nil)
        if status == errSecItemNotFound { return false }
        try check(status)
        return true
    }

    public func allKeys() throws -> Set<String> {
        let accounts = try attributes(matching: configuration.query()).compactMap { $0[kSecAttrAccount as String] }
        return Set(accounts.compactMap { $0 as? String })
    }

    /// Removes the value of a key. It is no error if there is none.
    public func removeObject(forKey key: String) throws {
        try remove(matching: configuration.query(key: key))
    }

    public func removeAllObjects() throws {
        try remove(matching: configuration.query())
    }
}

// MARK: Calls

extension SecureBox {
    func data(matching query: [String: AnyHashable]) throws -> Data {
        var query = query
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        query[kSecReturnData as String] = true
        var result: CFTypeRef?
        try check(SecItemCopyMatching(query as CFDictionary, &result))
        guard let data = result as? Data else { throw BoxError.itemNotFound }
        return data
    }

    /// Returns the attributes and the persistent references of all items; an empty array if there are none.
    func attributes(matching query: [String: AnyHashable]) throws -> [[String: Any]] {
        var query = query
        query[kSecMatchLimit as String] = kSecMatchLimitAll
        query[kSecReturnAttributes as String] = true
        query[kSecReturnPersistentRef as String] = true
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        if status == errSecItemNotFound { return [] }
        try check(status)
        return result as? [[String: Any]] ?? []
    }

    func remove(matching query: [String: AnyHashable]) throws {
        let status = SecItemDelete(query as CFDictionary)
        if status != errSecItemNotFound { try check(status) }
    }

    private func check(_ status: OSStatus) throws {
        switch status {
        case errSecSuccess: return
        case errSecItemNotFound: throw BoxError.itemNotFound
        default: throw BoxError.keychain(status)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// The passwords of one service, as a dictionary.
///
/// ```swift
/// let keychain = Keychain(service: "com.example.tokens").accessibility(.afterFirstUnlock)
/// keychain["alice"] = "s3cret"
/// ```
public final class Keychain {
    private let options: Options

    public convenience init(service: String, accessGroup: String? = nil) {
        self.init(Options(service: service, accessGroup: accessGroup))
    }

    private init(_ options: Options) {
        self.options = options
    }

    public var service: String { options.service }

    // MARK: Options

    /// Returns a keychain that stores values with this accessibility.
    public func accessibility(_ accessibility: Accessibility) -> Keychain {
        changed { $0.accessibility = accessibility }
    }

    /// Returns a keychain that stores values with or without synchronization. Reading finds both.
    public func synchronizable(_ isSynchronizable: Bool) -> Keychain {
        changed { $0.isSynchronizable = isSynchronizable }
    }

    /// Returns a keychain that stores values with this label.
    public func label(_ label: String) -> Keychain {
        changed { $0.label = label }
    }

    /// Returns a keychain that stores values with this comment.
    public func comment(_ comment: String) -> Keychain {
        changed { $0.comment = comment }
    }

    private func changed(_ change: (inout Options) -> Void) -> Keychain {
        var options = self.options
        change(&options)
        return Keychain(options)
    }

    // MARK: Values

    /// Returns the text of a key; nil if there is none.
    public func get(_ key: String) throws -> String? {
        guard let data = try getData(key) else { return nil }
        guard let text = String(data: data, encoding: .utf8) else { throw KeychainError.decode }
        return text
    }

    /// Returns the bytes of a key; nil if there are none.
    public func getData(_ key: String) throws -> Data? {
        var query = options.query(key: key)
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        query[kSecReturnData as String] = kCFBooleanTrue

        var result: AnyObject?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        switch status {
        case errSecSuccess:
            guard let data = result as? Data else { throw KeychainError.decode }
            return data
        case errSecItemNotFound:
            return nil
        default:
            throw KeychainError(status: status)
        }
    }

    /// Stores a text, whether or not the key has a value.
    public func set(_ value: String, key: String) throws {
        try set(Data(value.utf8), key: key)
    }

    /// Stores bytes, whether or not the key has a value.
    public func set(_ value: Data, key: String) throws {
        let query = options.query(key: key)
        let attributes = options.attributes(value: value)
        var status = SecItemCopyMatching(query as CFDictionary, nil)
        switch status {
        case errSecSuccess:
            status = SecItemUpdate(query as CFDictionary, attributes as CFDictionary)
        case errSecItemNotFound:
            status = SecItemAdd(query.merging(attributes) { _, new in new } as CFDictionary, nil)
        default:
            break
        }
        guard status == errSecSuccess else { throw KeychainError(status: status) }
    }

    public func contains(_ key: String) throws -> Bool {
        let status = SecItemCopyMatching(options.query(key: key) as CFDictionary, nil)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw KeychainError(status: status) }
        return status == errSecSuccess
    }

    /// Removes the value of a key. It is no error if there is none.
    public func remove(_ key: String) throws {
        try remove(matching: options.query(key: key))
    }

    /// Removes the values of all keys of this service.
    public func removeAll() throws {
        try remove(matching: options.query())
    }

    private func remove(matching query: [String: Any]) throws {
        let status = SecItemDelete(query as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw KeychainError(status: status) }
    }

    // MARK: All values

    public func allKeys() throws -> [String] {
        try allItems().map { $0.key }
    }

    /// Returns the values of this service with their attributes.
    public func allItems() throws -> [KeychainItem] {
        var query = options.query()
        query[kSecMatchLimit as String] = kSecMatchLimitAll
        query[kSecReturnAttributes as String] = kCFBooleanTrue

        var result: AnyObject?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        switch status {
        case errSecSuccess:
            return (result as? [[String: Any]] ?? []).compactMap { KeychainItem(attributes: $0) }
        case errSecItemNotFound:
            return []
        default:
            throw KeychainError(status: status)
        }
    }
}

// MARK: Subscripts

extension Keychain {
    /// The text of a key. Assigning nil removes it.
    public subscript(key: String) -> String? {
        get { try? get(key) }
        set {
            if let value = newValue {
                try? set(value, key: key)
            } else {
                try? remove(key)
            }
        }
    }

    /// The bytes of a key. Assigning nil removes them.
    public subscript(data key: String) -> Data? {
        get { try? getData(key) }
        set {
            if let value = newValue {
                try? set(value, key: key)
            } else {
                try? remove(key)
            }
        }
    }
}

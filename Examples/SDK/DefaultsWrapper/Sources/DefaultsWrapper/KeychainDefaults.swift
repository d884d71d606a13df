// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Values with an interface like `UserDefaults`, in the keychain where there is one.
open class KeychainDefaults {
    /// The values of this program.
    public static let standard = KeychainDefaults(
        serviceName: Bundle.main.bundleIdentifier ?? "KeychainDefaults")

    public let serviceName: String
    private let storage: ValueStorage

    public init(serviceName: String) {
        self.serviceName = serviceName
        storage = makeStorage(serviceName)
    }

    // MARK: Reading

    open func data(forKey key: String) -> Data? {
        storage.data(forKey: key)
    }

    open func string(forKey key: String) -> String? {
        data(forKey: key).flatMap { String(data: $0, encoding: .utf8) }
    }

    open func integer(forKey key: String) -> Int? {
        string(forKey: key).flatMap { Int($0) }
    }

    open func double(forKey key: String) -> Double? {
        string(forKey: key).flatMap { Double($0) }
    }

    open func bool(forKey key: String) -> Bool? {
        string(forKey: key).flatMap { Bool($0) }
    }

    open func hasValue(forKey key: String) -> Bool {
        data(forKey: key) != nil
    }

    open func allKeys() -> Set<String> {
        storage.allKeys()
    }

    // MARK: Writing

    /// Stores the value, whether or not there was one.
    ///
    /// - Returns: whether it is stored.
    @discardableResult
    open func set(_ value: Data, forKey key: String) -> Bool {
        storage.set(value, forKey: key)
    }

    @discardableResult
    open func set(_ value: String, forKey key: String) -> Bool {
        set(Data(value.utf8), forKey: key)
    }

    @discardableResult
    open func set(_ value: Int, forKey key: String) -> Bool {
        set(String(value), forKey: key)
    }

    @discardableResult
    open func set(_ value: Double, forKey key: String) -> Bool {
        set(String(value), forKey: key)
    }

    @discardableResult
    open func set(_ value: Bool, forKey key: String) -> Bool {
        set(String(value), forKey: key)
    }

    /// - Returns: whether there was a value.
    @discardableResult
    open func removeObject(forKey key: String) -> Bool {
        storage.remove(key)
    }

    /// - Returns: whether there were any values.
    @discardableResult
    open func removeAllKeys() -> Bool {
        storage.remove(nil)
    }
}

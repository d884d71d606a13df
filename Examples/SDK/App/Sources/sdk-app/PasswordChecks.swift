// SPDX-License-Identifier: Apache-2.0

import DefaultsWrapper
import Foundation
import KeychainStore
import LocalAuthentication
import Security
import SecureBox

/// Stores, replaces, lists and removes passwords.
func keychainStoreCheck() throws -> String {
    let keychain = Keychain(service: "sdk.tokens").accessibility(.whenUnlocked).label("Tokens")
    try keychain.removeAll()
    keychain["alice"] = "s3cret"
    try keychain.set("n3w", key: "alice")
    try keychain.synchronizable(true).set("t0ken", key: "bob")
    try expect("KeychainStore: alice", keychain["alice"], "n3w")
    try expect("KeychainStore: bob", try keychain.getData("bob"), Data("t0ken".utf8))

    let items = try keychain.allItems().sorted { $0.key < $1.key }
    try expect("KeychainStore: keys", items.map(\.key), ["alice", "bob"])
    try expect("KeychainStore: synchronizable", items.map(\.isSynchronizable), [false, true])
    try expect("KeychainStore: labels", items.map(\.label), ["Tokens", "Tokens"])
    try expect("KeychainStore: accessibility", items.map(\.accessibility), [.whenUnlocked, .whenUnlocked])

    keychain["alice"] = nil
    try expect("KeychainStore: a removed key", try keychain.contains("alice"), false)
    try expect("KeychainStore: keys that are left", try keychain.allKeys(), ["bob"])
    let message = KeychainError.itemNotFound.localizedDescription
    try expect("KeychainStore: a message for -25300", message.isEmpty, false)
    return "KeychainStore: alice n3w, bob synchronizable, label Tokens, alice removed"
}

/// Moves the passwords of another service into a box.
func secureBoxCheck() throws -> String {
    guard let identifier = Identifier(nonEmpty: "sdk") else {
        throw WrongResult(description: "SecureBox: expected an identifier")
    }
    let box = SecureBox.box(with: identifier, accessibility: .afterFirstUnlock)
    try box.removeAllObjects()
    try expect("SecureBox: access", box.canAccessKeychain(), true)
    try box.setString("s3cret", forKey: "alice")
    try box.setString("n3w", forKey: "alice")

    let old = Keychain(service: "sdk.old")
    try old.removeAll()
    try old.set("of carol", key: "carol")
    try old.set("of dave", key: "dave")
    try box.migrateObjects(
        matching: [
            kSecClass as String: kSecClassGenericPassword as String,
            kSecAttrService as String: old.service,
        ],
        removesItems: true)
    try expect("SecureBox: keys", try box.allKeys(), ["alice", "carol", "dave"])
    try expect("SecureBox: a migrated value", try box.string(forKey: "dave"), "of dave")
    try expect("SecureBox: items after the migration", try old.allKeys(), [])

    try expect("SecureBox: contexts", SecureBox.acceptsContext, true)
    let value = try box.object(forKey: "alice", context: LAContext())
    try expect("SecureBox: a value with a context", value, Data("n3w".utf8))
    let error = try failure("SecureBox: a missing key") { _ = try box.object(forKey: "erin") }
    try expect("SecureBox: a missing key", error as? BoxError, .itemNotFound)
    return "SecureBox: keys alice carol dave, contexts accepted"
}

/// Stores values of several types.
func defaultsWrapperCheck() throws -> String {
    try expect("DefaultsWrapper: the keychain", KeychainDefaults.usesKeychain, true)
    let defaults = KeychainDefaults(serviceName: "sdk.defaults")
    defaults.removeAllKeys()
    try expect("DefaultsWrapper: set", defaults.set("Alice", forKey: "name"), true)
    defaults.set(41, forKey: "launches")
    defaults.set(42, forKey: "launches")
    defaults.set(2.5, forKey: "scale")
    defaults.set(true, forKey: "isNew")
    defaults.set(Data([0, 255]), forKey: "bytes")
    try expect("DefaultsWrapper: name", defaults.string(forKey: "name"), "Alice")
    try expect("DefaultsWrapper: launches", defaults.integer(forKey: "launches"), 42)
    try expect("DefaultsWrapper: scale", defaults.double(forKey: "scale"), 2.5)
    try expect("DefaultsWrapper: isNew", defaults.bool(forKey: "isNew"), true)
    try expect("DefaultsWrapper: bytes", defaults.data(forKey: "bytes"), Data([0, 255]))
    try expect("DefaultsWrapper: keys", defaults.allKeys(), ["name", "launches", "scale", "isNew", "bytes"])
    try expect("DefaultsWrapper: removal", defaults.removeObject(forKey: "name"), true)
    try expect("DefaultsWrapper: a removed value", defaults.hasValue(forKey: "name"), false)
    return "DefaultsWrapper: in the keychain, 42 2.5 true"
}

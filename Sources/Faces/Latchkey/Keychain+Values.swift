// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import SecretMemory

/// Values of any `Codable` type, stored as the secret of an item.
///
/// ```swift
/// struct Credentials: Codable { var token: String, expires: Date }
///
/// try keychain.set(alice, toValue: Credentials(token: "t0k3n", expires: .now))
/// let credentials = try keychain.value(Credentials.self, for: alice)
/// ```
///
/// The secret is JSON (RFC 8259) in UTF-8 with sorted keys: dates are seconds since 2001-01-01,
/// `Data` is Base64. The command `security` prints it as it is. A `String` is stored in quotes;
/// ``set(_:to:)-(_,SecretConvertible)`` stores the text alone.
///
/// The bytes that pass between the keychain and the coder are in secret memory or are wiped. The value itself and the
/// working memory of `JSONEncoder` and `JSONDecoder` are ordinary memory and are not wiped: use ``SharedSecret`` where
/// that matters.
extension Keychain {
    /// Stores the value as the secret of this item. If the item exists, it is updated, and
    /// attributes that `item` does not name keep their values.
    ///
    /// - Throws: `errSecParam` if the value cannot be encoded as JSON, such as a number that is not
    ///   finite.
    public func set(_ item: some PasswordItem, toValue value: some Encodable & Sendable) throws(KeychainError) {
        try set(item, to: try item.named { () throws(KeychainError) in try JSONSecret.encode(value) })
    }

    /// Stores a new item with the value as its secret.
    ///
    /// - Throws: `KeychainError.duplicateItem` if the item exists; `errSecParam` if the value cannot
    ///   be encoded as JSON.
    public func add(_ item: some PasswordItem, value: some Encodable & Sendable) throws(KeychainError) {
        try add(item, secret: try item.named { () throws(KeychainError) in try JSONSecret.encode(value) })
    }

    /// Returns the value that is the secret of this item.
    ///
    /// - Throws: `KeychainError.itemNotFound`; `KeychainError.decode` if the secret is not the JSON
    ///   of this type, or the item is damaged. The error contains names that the type declares, and
    ///   no values.
    public func value<Value: Decodable & Sendable>(
        _ type: Value.Type, for item: some PasswordItem
    ) throws(KeychainError) -> Value {
        let secret = try sharedSecret(for: item)
        return try item.named { () throws(KeychainError) in try JSONSecret.decode(type, from: secret) }
    }
}

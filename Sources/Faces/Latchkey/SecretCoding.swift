// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import KeychainModel
internal import SecretMemory

/// How a type is stored as a secret: text, bytes or JSON.
struct SecretCoding<Value: Sendable>: Sendable {
    let secret: @Sendable (Value) throws(KeychainError) -> SharedSecret
    let value: @Sendable (SharedSecret) throws(KeychainError) -> Value
}

extension SecretCoding where Value == String {
    /// The text in UTF-8.
    static var text: Self {
        Self(secret: { value in value.sharedSecret() }) { (secret) throws(KeychainError) in
            try secret.text()
        }
    }
}

extension SecretCoding where Value == Data {
    /// The bytes themselves.
    static var data: Self {
        // EXPOSE: the caller asked for the secret as Data.
        Self(secret: { value in value.sharedSecret() }) { secret in secret.withUnsafeBytes { Data($0) } }
    }
}

extension SecretCoding where Value == [UInt8] {
    /// The bytes themselves.
    static var bytes: Self {
        // EXPOSE: the caller asked for the secret as bytes.
        Self(secret: { value in value.sharedSecret() }) { secret in secret.withUnsafeBytes { Array($0) } }
    }
}

extension SecretCoding where Value == SharedSecret {
    /// The bytes in secret memory.
    static var secretMemory: Self { Self(secret: { value in value }) { secret in secret } }
}

extension SecretCoding where Value: Codable {
    /// JSON, as ``Keychain/set(_:toValue:)`` stores it.
    static var json: Self {
        Self(secret: { (value) throws(KeychainError) in try JSONSecret.encode(value) }) {
            (secret) throws(KeychainError) in
            try JSONSecret.decode(Value.self, from: secret)
        }
    }
}

extension SharedSecret {
    /// Returns the secret as text.
    ///
    /// - Throws: `KeychainError.decode` if the secret is not UTF-8.
    func text() throws(KeychainError) -> String {
        // EXPOSE: the caller asked for the secret as a String.
        guard let text = withUnsafeBytes({ String(validating: $0, as: UTF8.self) }) else {
            throw KeychainError(.decode, "the secret is not UTF-8 text", hint: "request SecretBytes or Data")
        }
        return text
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import KeychainModel
internal import SecretMemory

/// Codable values as secrets: JSON (RFC 8259) in UTF-8 with sorted keys.
enum JSONSecret {
    /// - Throws: `errSecParam` if the value cannot be encoded.
    static func encode(_ value: some Encodable) throws(KeychainError) -> SharedSecret {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var encoded: Data
        do {
            encoded = try encoder.encode(value)
        } catch {
            throw KeychainError(
                .param, "a value of type \(type(of: value)) cannot be encoded as JSON",
                hint: "numbers must be finite, and encode(to:) must encode something and not throw")
        }
        // The only reference, so the bytes are wiped in place.
        defer { encoded.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        return SharedSecret(SecretBytes(count: encoded.count) { buffer in _ = encoded.copyBytes(to: buffer) })
    }

    /// - Throws: `KeychainError.decode` if the secret is not the JSON of this type.
    static func decode<Value: Decodable>(
        _ type: Value.Type, from secret: SharedSecret
    ) throws(KeychainError) -> Value {
        // EXPOSE: the caller asked for the secret as a value. The decoder reads secret memory.
        let outcome = secret.withUnsafeBytes { bytes -> Result<Value, KeychainError> in
            do {
                return .success(try JSONDecoder().decode(type, from: borrowed(bytes)))
            } catch {
                return .failure(
                    KeychainError(
                        .decode, "the secret is not the JSON of \(type): \(reason(error))",
                        hint: "request SecretBytes or Data to read the stored bytes"))
            }
        }
        return try outcome.get()
    }

    /// The bytes as Data without a copy, for the duration of the call that lends them.
    private static func borrowed(_ bytes: UnsafeRawBufferPointer) -> Data {
        guard let start = bytes.baseAddress else { return Data() }
        return Data(bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count, deallocator: .none)
    }

    /// The reason in names that the type declares. Descriptions and paths of `DecodingError` can contain values and
    /// keys of dictionaries, and these are parts of the secret.
    private static func reason(_ error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, _): "the key \(key.stringValue) is missing"
        case DecodingError.valueNotFound(let type, _): "a value of type \(type) is null"
        case DecodingError.typeMismatch(let type, _): "a value is not of type \(type)"
        default: "it is not valid"
        }
    }
}

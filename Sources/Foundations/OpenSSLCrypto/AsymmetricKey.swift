// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// An RSA or elliptic-curve key: a public key, or a key pair. Immutable, and safe to use from
/// several threads.
///
/// libcrypto keeps it in memory of its own, and wipes this memory when the key is freed.
public final class AsymmetricKey: @unchecked Sendable {  // because libcrypto only reads the key after its creation
    let pointer: OpaquePointer

    /// Takes ownership of a key that no other code frees.
    init(adopting pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit { EVP_PKEY_free(pointer) }

    /// The length of the modulus, or of the field, in bits.
    public var bitCount: Int { Int(EVP_PKEY_get_bits(pointer)) }

    /// Writes the number named `name`, big-endian, padded with leading zeros to the length of
    /// `buffer`.
    func readNumber(_ name: String, into buffer: UnsafeMutableRawBufferPointer) throws(OpenSSLError) {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(pointer, name, &number) == 1, let number else {
            throw .last("reading the key's \(name)")
        }
        defer { BN_clear_free(number) }
        guard
            BN_bn2binpad(number, buffer.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(buffer.count))
                == buffer.count
        else {
            throw .last("writing the key's \(name)")
        }
    }

    /// Creates a libcrypto key from its parts.
    ///
    /// - Parameter selection: LATCHKEY_PUBLIC_KEY or LATCHKEY_KEYPAIR.
    static func make(
        _ type: String, _ selection: Int32, _ parameters: UnsafeMutablePointer<OSSL_PARAM>
    ) throws(OpenSSLError) -> OpaquePointer {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, type, nil) else { throw .last("creating a key") }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_fromdata_init(context) == 1, EVP_PKEY_fromdata(context, &key, selection, parameters) == 1,
            let key
        else {
            throw .last("creating a key")
        }
        return key
    }

    /// Generates a key of the kind that `choose` sets.
    static func generate(
        _ type: String, _ choose: (OpaquePointer) -> Bool
    ) throws(OpenSSLError) -> OpaquePointer {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, type, nil) else { throw .last("generating a key") }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, choose(context), EVP_PKEY_generate(context, &key) == 1, let key else {
            throw .last("generating a key")
        }
        return key
    }
}

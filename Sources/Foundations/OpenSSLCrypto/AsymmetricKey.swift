// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// An RSA or elliptic-curve key, one half or both. Immutable, and safe to use from several threads.
///
/// libcrypto holds it in memory of its own, which it wipes when the key goes.
public final class AsymmetricKey: @unchecked Sendable {  // because libcrypto only reads the key once it is made
    let pointer: OpaquePointer

    /// Takes over a key that nobody else will free.
    init(adopting pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit { EVP_PKEY_free(pointer) }

    /// The length of the modulus, or of the field, in bits.
    public var bitCount: Int { Int(EVP_PKEY_get_bits(pointer)) }

    /// The number named `name`, big-endian, in as many bytes as `buffer` has.
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

    /// Makes a key of libcrypto's out of its parts.
    ///
    /// - Parameter selection: LATCHKEY_PUBLIC_KEY or LATCHKEY_KEYPAIR.
    static func make(
        _ type: String, _ selection: Int32, _ parameters: UnsafeMutablePointer<OSSL_PARAM>
    ) throws(OpenSSLError) -> OpaquePointer {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, type, nil) else { throw .last("making a key") }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_fromdata_init(context) == 1, EVP_PKEY_fromdata(context, &key, selection, parameters) == 1,
            let key
        else {
            throw .last("making a key")
        }
        return key
    }

    /// A new key; `choose` says of what kind.
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

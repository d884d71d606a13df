// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
public import SecretMemory

/// The numbers of an RSA key (RFC 8017, section 3), big-endian. The buffers are borrowed for a
/// call.
public struct RSAKeyParts {
    public var modulus: UnsafeRawBufferPointer
    public var publicExponent: UnsafeRawBufferPointer
    /// d, p, q, d mod p−1, d mod q−1, q⁻¹ mod p; empty for a public key.
    public var secrets: [UnsafeRawBufferPointer]

    public init(
        modulus: UnsafeRawBufferPointer, publicExponent: UnsafeRawBufferPointer, secrets: [UnsafeRawBufferPointer] = []
    ) {
        self.modulus = modulus
        self.publicExponent = publicExponent
        self.secrets = secrets
    }

    /// Whether the secret numbers are consistent: n = pq, the exponents and the coefficient match
    /// d, p and q, and ed ≡ 1. It does not check whether p and q are prime, because that takes
    /// long, and a key with other numbers only harms its owner.
    public func isConsistent() throws(OpenSSLError) -> Bool {
        guard secrets.count == 6 else { return secrets.isEmpty }
        let numbers = SecretBigNumbers(count: 12)
        for (index, bytes) in ([modulus, publicExponent] + secrets).enumerated() {
            guard
                BN_bin2bn(bytes.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(bytes.count), numbers[index])
                    != nil
            else {
                throw .last("reading a number")
            }
            BN_set_flags(numbers[index], BN_FLG_CONSTTIME)
        }
        let (n, e, d, p, q) = (numbers[0], numbers[1], numbers[2], numbers[3], numbers[4])
        let (dP, dQ, inverse, lessP, lessQ) = (numbers[5], numbers[6], numbers[7], numbers[8], numbers[9])
        let (one, other) = (numbers[10], numbers[11])
        guard BN_is_one(p) == 0, BN_is_one(q) == 0, BN_is_zero(p) == 0, BN_is_zero(q) == 0, BN_is_zero(d) == 0 else {
            return false
        }
        guard let context = BN_CTX_secure_new() else { throw .last("allocating numbers") }
        defer { BN_CTX_free(context) }
        guard BN_mul(other, p, q, context) == 1, BN_sub(lessP, p, BN_value_one()) == 1,
            BN_sub(lessQ, q, BN_value_one()) == 1
        else {
            throw .last("checking a key")
        }
        guard BN_cmp(other, n) == 0 else { return false }
        // A remainder does not exist if the modulus is one or the number has no inverse; then the
        // key is not consistent.
        guard BN_mod_mul(one, e, d, lessP, context) == 1, BN_is_one(one) == 1,
            BN_mod_mul(one, e, d, lessQ, context) == 1,
            BN_is_one(one) == 1,
            BN_nnmod(other, d, lessP, context) == 1, BN_cmp(other, dP) == 0, BN_nnmod(other, d, lessQ, context) == 1,
            BN_cmp(other, dQ) == 0, BN_mod_mul(one, inverse, q, p, context) == 1, BN_is_one(one) == 1,
            BN_cmp(inverse, p) < 0
        else {
            ERR_clear_error()
            return false
        }
        return true
    }

    /// Returns the remaining numbers of a key, if only n, e, d, p and q are known: d mod p−1, d mod q−1 and q⁻¹ mod p.
    public static func derived(
        exponent d: UnsafeRawBufferPointer, _ p: UnsafeRawBufferPointer, _ q: UnsafeRawBufferPointer
    ) throws(OpenSSLError) -> [SharedSecret] {
        let numbers = SecretBigNumbers(count: 5)
        for (index, bytes) in [d, p, q].enumerated() {
            guard
                BN_bin2bn(bytes.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(bytes.count), numbers[index])
                    != nil
            else {
                throw .last("reading a number")
            }
        }
        guard let context = BN_CTX_secure_new() else { throw .last("allocating numbers") }
        defer { BN_CTX_free(context) }
        var found: [SharedSecret] = []
        for prime in [numbers[1], numbers[2]] {
            guard BN_is_zero(prime) == 0, BN_is_one(prime) == 0, BN_sub(numbers[3], prime, BN_value_one()) == 1,
                BN_nnmod(numbers[4], numbers[0], numbers[3], context) == 1
            else { throw .last("deriving the numbers of a key") }
            found.append(SharedSecret(numbers.bytes(4)))
        }
        guard BN_mod_inverse(numbers[4], numbers[2], numbers[1], context) != nil else {
            throw .last("deriving the numbers of a key")
        }
        found.append(SharedSecret(numbers.bytes(4)))
        return found
    }
}

/// libcrypto numbers that are wiped when the object is destroyed.
private final class SecretBigNumbers {
    private let numbers: [OpaquePointer?]

    init(count: Int) {
        numbers = (0..<count).map { _ in BN_secure_new() }
    }

    subscript(_ index: Int) -> OpaquePointer? { numbers[index] }

    func bytes(_ index: Int) -> SecretBytes {
        let length = (BN_num_bits(numbers[index]) + 7) / 8
        return SecretBytes(count: Int(length)) { buffer in
            BN_bn2binpad(numbers[index], buffer.assumingMemoryBound(to: UInt8.self).baseAddress, length)
        }
    }

    deinit { for number in numbers { BN_clear_free(number) } }
}

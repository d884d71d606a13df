// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import LinuxSystem

/// A verifier of signatures of one key. It keeps the operation that libcrypto prepares for the key: a fifth of the time
/// of an RSA signature with 2048 bits. Threads do not wait for each other; those that verify at the same time prepare
/// their own.
public final class SignatureVerifier: Sendable {
    private let key: AsymmetricKey
    private let padding: RSAPadding?
    /// One prepared operation for each hash, while no thread uses it.
    let idle = SystemMutex<[HashFunction: PreparedVerification]>([:])

    /// - Parameter padding: nil for an elliptic curve.
    public init(_ key: AsymmetricKey, padding: RSAPadding?) {
        self.key = key
        self.padding = padding
    }

    /// Whether the key made the signature of the digest.
    public func isSignature(
        _ signature: UnsafeRawBufferPointer, of digest: UnsafeRawBufferPointer, hash: HashFunction
    ) throws(OpenSSLError) -> Bool {
        let kept = idle.withLock { $0.removeValue(forKey: hash) }
        let prepared: PreparedVerification
        if let kept { prepared = kept } else { prepared = try PreparedVerification(key, hash: hash, padding: padding) }
        let isValid = prepared.isSignature(signature, of: digest)
        // Also after an invalid signature: preparing costs more than refusing (EVP_PKEY_verify(3)
        // can be called again with the same parameters).
        idle.withLock { $0[hash] = prepared }
        return isValid
    }
}

/// An operation of libcrypto that is ready to verify signatures of a key.
final class PreparedVerification: @unchecked Sendable {  // because only one thread at a time has it
    private let context: AsymmetricKey.Context

    init(_ key: AsymmetricKey, hash: HashFunction?, padding: RSAPadding?) throws(OpenSSLError) {
        context = try AsymmetricKey.Context(key)
        guard EVP_PKEY_verify_init(context.pointer) == 1, context.prepareSignature(padding, hash) else {
            throw .last("verifying")
        }
    }

    func isSignature(_ signature: UnsafeRawBufferPointer, of digest: UnsafeRawBufferPointer) -> Bool {
        let verdict = EVP_PKEY_verify(context.pointer, signature.octets, signature.count, digest.octets, digest.count)
        guard verdict != 1 else { return true }
        // A malformed signature is not an error; it is not a signature of this key.
        ERR_clear_error()
        return false
    }
}

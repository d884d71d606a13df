// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// An enclave that creates keys on P-256, uses them, and never reveals their private numbers.
public protocol SecureEnclave: Sendable {
    /// The kind of enclave that holds the keys.
    var kind: EnclaveKind { get }

    /// Creates a key.
    ///
    /// - Parameter authorization: 32 random bytes that every use of the key needs.
    func createKey(authorization: SharedSecret) throws(KeychainError) -> EnclaveKeyHalves

    /// Signs a digest with ECDSA.
    ///
    /// - Parameter digest: 32 bytes, signed as a number.
    /// - Returns: r and s, of 32 bytes each.
    /// - Throws: errSecNotAvailable if the enclave is gone; errSecDecode if it is not the one that
    ///   created the key.
    func signature(
        of digest: [UInt8], with key: SharedSecret, authorization: SharedSecret
    ) throws(KeychainError) -> [UInt8]

    /// Agrees on a secret.
    ///
    /// - Parameter point: the other public key, `04 ‖ X ‖ Y`.
    /// - Returns: the x-coordinate of the shared point, 32 bytes.
    /// - Throws: errSecParam if the point is not on the curve.
    func agreement(
        with point: [UInt8], by key: SharedSecret, authorization: SharedSecret
    ) throws(KeychainError) -> SharedSecret

    /// Answers a message of an attestation: Documentation/Formats/attestation.md.
    ///
    /// - Parameter request: empty for the identity of the enclave; otherwise a challenge.
    /// - Throws: errSecUnimplemented if the enclave proves nothing; errSecParam for a message of
    ///   another form.
    func attestation(
        of key: SharedSecret, authorization: SharedSecret, request: [UInt8]
    ) throws(KeychainError) -> [UInt8]
}

/// The halves of a new key.
public struct EnclaveKeyHalves: Sendable {
    /// `04 ‖ X ‖ Y`.
    public let publicPoint: [UInt8]
    /// The bytes that the enclave needs to use the key; only it understands them.
    public let privateHalf: SharedSecret

    public init(publicPoint: [UInt8], privateHalf: SharedSecret) {
        (self.publicPoint, self.privateHalf) = (publicPoint, privateHalf)
    }
}

// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// The operations on keys in the keychain. Private keys are used inside the service; their bytes
/// leave it only by an export, if that is allowed.
public protocol KeychainKeys: Sendable {
    /// Generates a key pair, and stores its private half, and its public half if requested: both
    /// items, or none.
    ///
    /// - Throws: what ``KeychainService/add(_:from:)`` throws for either half;
    ///   errSecKeySizeNotAllowed.
    func generateKey(_ generation: KeyGeneration, from caller: CallerIdentity) throws(KeychainError) -> GeneratedKey

    /// Returns the public key of a key item, or of the pair of a private key.
    ///
    /// - Throws: errSecDecode if the item holds no key.
    func publicKey(of reference: PersistentReference, from caller: CallerIdentity) throws(KeychainError)
        -> PublicKeyInfo

    /// Performs an operation with a private key.
    ///
    /// - Parameter authentication: how the call may satisfy the access control of the key.
    /// - Returns: the signature, the decrypted data, or the shared secret.
    /// - Throws: errSecKeyUsageIncorrect if the key's attributes do not allow the operation;
    ///   errSecParam if the input does not fit.
    func useKey(
        _ reference: PersistentReference, _ use: PrivateKeyUse, on input: SharedSecret, authentication: Authentication,
        from caller: CallerIdentity
    ) throws(KeychainError) -> KeyOutput

    /// Returns the external representation of a key.
    ///
    /// - Throws: errSecUnimplemented, as for keys on tokens, if the key is not extractable.
    func exportKey(
        _ reference: PersistentReference, authentication: Authentication, from caller: CallerIdentity
    ) throws(KeychainError) -> KeyOutput
}

// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// The operations on keys that lie in the keychain. The private half is used where it lies; only an export, where it is allowed, gives it away.
public protocol KeychainKeys: Sendable {
    /// Makes a pair, and keeps its private half; both or none of its items.
    ///
    /// - Throws: what ``KeychainService/add(_:from:)`` throws for either half; errSecKeySizeNotAllowed.
    func generateKey(_ generation: KeyGeneration, from caller: CallerIdentity) throws(KeychainError) -> GeneratedKey

    /// The public half of a key, or of the pair of a private key.
    ///
    /// - Throws: errSecDecode where the item holds no key.
    func publicKey(of reference: PersistentReference, from caller: CallerIdentity) throws(KeychainError)
        -> PublicKeyInfo

    /// Has a private key do what only it can do.
    ///
    /// - Returns: a signature, what was encrypted, or what was agreed on.
    /// - Throws: errSecKeyUsageIncorrect where the key's attributes do not allow it; errSecParam where the input does not fit.
    func useKey(
        _ reference: PersistentReference, _ use: PrivateKeyUse, on input: SharedSecret, from caller: CallerIdentity
    ) throws(KeychainError) -> KeyOutput

    /// The external representation of a key.
    ///
    /// - Throws: errSecUnimplemented, as tokens answer, where the key may not be extracted.
    func exportKey(_ reference: PersistentReference, from caller: CallerIdentity) throws(KeychainError) -> KeyOutput
}

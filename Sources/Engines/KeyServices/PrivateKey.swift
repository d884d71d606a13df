// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// The private half of a key pair: in memory (``SoftwareKey``), or in a keychain that uses it on
/// behalf of its caller.
public protocol PrivateKey: Sendable {
    var publicKey: PublicKey { get throws(KeychainError) }
    var kind: KeyKind { get }

    /// Performs an operation with the private numbers.
    ///
    /// - Returns: a signature, a plaintext or a shared secret.
    /// - Throws: errSecParam if the input does not fit the use.
    func use(_ use: PrivateKeyUse, on input: UnsafeRawBufferPointer) throws(KeychainError) -> SharedSecret

    /// Returns the shared secret with another key of the same curve, as the use
    /// ``PrivateKeyUse/agree`` does.
    func keyAgreement(with other: PublicKey) throws(KeychainError) -> SharedSecret
}

extension PrivateKey {
    public func keyAgreement(with other: PublicKey) throws(KeychainError) -> SharedSecret {
        try other.external.withContiguousBytes { (point) throws(KeychainError) in try use(.agree, on: point) }
    }
}

// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// The private half of a pair, wherever it lies: in memory (``SoftwareKey``), or in a keychain that uses it for its caller.
public protocol PrivateKey: Sendable {
    var publicKey: PublicKey { get throws(KeychainError) }
    var kind: KeyKind { get }

    /// Does the one thing that needs the private numbers.
    ///
    /// - Returns: a signature, what was encrypted, or what was agreed on.
    /// - Throws: errSecParam where the input does not fit the use.
    func use(_ use: PrivateKeyUse, on input: UnsafeRawBufferPointer) throws(KeychainError) -> SharedSecret

    /// What the key agrees on with another one of its curve; the same as the use ``PrivateKeyUse/agree``.
    func keyAgreement(with other: PublicKey) throws(KeychainError) -> SharedSecret
}

extension PrivateKey {
    public func keyAgreement(with other: PublicKey) throws(KeychainError) -> SharedSecret {
        try other.external.withContiguousBytes { (point) throws(KeychainError) in try use(.agree, on: point) }
    }
}

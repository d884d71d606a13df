// SPDX-License-Identifier: Apache-2.0

internal import KeyServices
package import KeychainModel
internal import LatchkeyClient

extension SecKey {
    /// Returns a private key in the keychain. The caller states how each use may satisfy the access control.
    ///
    /// - Parameter publicKey: the external representation of the public half.
    /// - Throws: errSecDecode or errSecParam if `publicKey` is not a key of this kind.
    package static func stored(
        at reference: PersistentReference, publicKey: [UInt8], kind: KeyKind,
        authentication: @escaping @Sendable () throws(KeychainError) -> Authentication
    ) throws(KeychainError) -> SecKey {
        let publicKey = try PublicKey.of(PublicKeyInfo(kind, half: .privateKey, publicKey: publicKey))
        let privateKey = StoredKey(reference, publicKey: publicKey, authentication: authentication)
        return SecKey(KeyBody(publicKey: publicKey, privateKey: privateKey, reference: reference))
    }

    /// The public half of the pair.
    package var publicHalf: SecKey { SecKey(.publicKey(body.publicKey)) }
}

// SPDX-License-Identifier: Apache-2.0

/// An identity of a keychain: a certificate, and a private key with an application label equal to the certificate's
/// public key hash. It has no row of its own.
public struct IdentityRecord: Sendable {
    /// The item of the certificate. It has data if a reference, or data together with other values,
    /// was requested.
    public var certificate: ItemRecord
    /// The item of the key. It has data only if data was requested, and the key is extractable.
    public var key: ItemRecord
    /// The public key of ``key``; nil if no reference was requested, or the item does not hold a
    /// private key that can be used.
    public var publicKey: PublicKeyInfo?

    public init(certificate: ItemRecord, key: ItemRecord, publicKey: PublicKeyInfo? = nil) {
        self.certificate = certificate
        self.key = key
        self.publicKey = publicKey
    }

    /// A persistent reference to an identity has the identifier of the certificate.
    public var persistentReference: PersistentReference { PersistentReference(.identity, certificate.identifier) }

    /// The identity as one item (keychain-behaviour §1.4): the key, with its attributes overridden
    /// by those of the certificate, under the certificate's identifier.
    public var item: ItemRecord {
        var item = key
        item.itemClass = .identity
        item.identifier = certificate.identifier
        item.attributes.merge(certificate.attributes) { _, certificate in certificate }
        return item
    }
}

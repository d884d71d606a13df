// SPDX-License-Identifier: Apache-2.0

/// An identity of a keychain: a certificate, and a private key whose application label equals the
/// certificate's public key hash. It has no row of its own.
public struct IdentityRecord: Sendable {
    /// The item of the certificate.
    public var certificate: ItemRecord
    /// The item of the key.
    public var key: ItemRecord

    public init(certificate: ItemRecord, key: ItemRecord) {
        self.certificate = certificate
        self.key = key
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

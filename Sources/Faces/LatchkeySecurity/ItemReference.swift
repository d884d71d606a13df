// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import Foundation
internal import KeyServices
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import SecretMemory

/// An object that stands for an item: the value of `kSecValueRef`.
enum ItemReference {
    case key(SecKey)
    case certificate(SecCertificate)
    case identity(SecIdentity)
    /// A password; the object names it without its content.
    case item(SecKeychainItem)

    /// Nil for an object of another class.
    init?(_ object: Any) {
        switch object {
        case let key as SecKey: self = .key(key)
        case let certificate as SecCertificate: self = .certificate(certificate)
        case let identity as SecIdentity: self = .identity(identity)
        case let item as SecKeychainItem: self = .item(item)
        default: return nil
        }
    }

    var itemClass: ItemClass {
        switch self {
        case .key: .key
        case .certificate: .certificate
        case .identity: .identity
        case .item(let item): item.body.itemClass
        }
    }

    /// The persistent reference of the item, if the object has one.
    var persistentReference: PersistentReference? {
        switch self {
        case .key(let key): key.body.reference
        case .item(let item): item.body.reference
        case .certificate, .identity: nil
        }
    }

    /// The keychain of the item, if the object names it.
    var keychain: KeychainName? {
        if case .item(let item) = self { item.body.keychain } else { nil }
    }

    /// Whether the object also stands for other items with the same content.
    var hasContent: Bool {
        if case .item = self { false } else { true }
    }

    /// The attributes of the item that the object stands for.
    func conditions() throws(KeychainError) -> [ItemAttribute: AttributeValue] {
        switch self {
        case .key(let key):
            // A key in memory stands for the items with the same half of the same pair.
            [
                .applicationLabel: .data(try key.body.publicKey.applicationLabel()),
                .keyClass: .number(key.body.half.rawValue),
            ]
        case .certificate(let certificate): CertificateAttributes.identifying(certificate.body)
        case .identity(let identity): CertificateAttributes.identifying(identity.certificate.body)
        case .item: throw .parameter("a SecKeychainItem names an item without its attributes")
        }
    }

    /// The items in the keychain that the object stands for.
    func storedItems(_ authentication: Authentication) throws(KeychainError) -> [PersistentReference] {
        if let persistentReference { return [persistentReference] }
        let query = ItemQuery(
            itemClass, attributes: try conditions(), synchronizable: .any, limit: .all, authentication: authentication)
        return try KeychainClient.session().copyMatching(query, returning: []).records.map(\.persistentReference)
    }

    // MARK: Addition

    /// The items that store the object, with their attributes and their data.
    func items() throws(KeychainError) -> [(
        itemClass: ItemClass, attributes: [ItemAttribute: AttributeValue], data: SharedSecret
    )] {
        switch self {
        case .key(let key):
            [
                (
                    .key, try KeyAttributes.standard(key.body.publicKey, key.body.half),
                    try key.body.externalSecret() ?? SharedSecret(copying: key.body.publicKey.external)
                )
            ]
        case .certificate(let certificate):
            [
                (
                    .certificate, CertificateAttributes.standard(certificate.body),
                    SharedSecret(copying: certificate.body.der)
                )
            ]
        case .identity(let identity):
            try ItemReference.certificate(identity.certificate).items() + ItemReference.key(identity.privateKey).items()
        case .item: throw .parameter("a SecKeychainItem stands for an item that is stored already")
        }
    }
}

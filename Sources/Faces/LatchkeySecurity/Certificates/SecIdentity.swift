// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
public import Foundation
internal import KeyServices
internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService

/// A certificate together with its private key.
///
/// Identities are created by PKCS #12 import and by the keychain, not with an initializer.
/// Immutable. Two identities are equal if their certificates and their keys are equal.
public final class SecIdentity: NSObject, Sendable {
    let certificate: SecCertificate
    let privateKey: SecKey

    init(_ certificate: SecCertificate, _ privateKey: SecKey) {
        self.certificate = certificate
        self.privateKey = privateKey
        super.init()
    }

    /// Whether the other object stands for the same content.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecIdentity else { return false }
        return certificate == other.certificate && privateKey == other.privateKey
    }

    /// A hash; equal objects have equal hashes.
    public override var hash: Int { certificate.hash }

    /// The certificate's subject, such as `<SecIdentity: example.com>`.
    public override var description: String {
        "<SecIdentity: \(certificate.body.subjectSummary ?? "without a name")>"
    }
}

extension SecIdentity: CoreFoundationType {
    static var typeID: CFTypeID { TypeIdentifier.identity.rawValue }
}

/// Returns the type identifier of `SecIdentity`, for comparison with `CFGetTypeID`.
@discardableResult
public func SecIdentityGetTypeID() -> CFTypeID {
    SecIdentity.typeID
}

/// Copies the identity's certificate.
@discardableResult
public func SecIdentityCopyCertificate(
    _ identityRef: SecIdentity, _ certificateRef: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
    certificateRef.pointee = identityRef.certificate
    return errSecSuccess
}

/// Copies the identity's private key.
@discardableResult
public func SecIdentityCopyPrivateKey(_ identityRef: SecIdentity, _ privateKeyRef: UnsafeMutablePointer<SecKey?>)
    -> OSStatus
{
    privateKeyRef.pointee = identityRef.privateKey
    return errSecSuccess
}

/// Returns an identity made of a certificate and a private key. Neither has to be in the keychain.
///
/// - Returns: nil if the key is not a private key, or does not belong to the certificate.
@discardableResult
public func SecIdentityCreate(_ allocator: CFAllocator?, _ certificate: SecCertificate, _ privateKey: SecKey)
    -> SecIdentity?
{
    guard privateKey.body.isPrivate, let publicKey = SecCertificateCopyKey(certificate),
        publicKey.body.publicKey.external == privateKey.body.publicKey.external
    else { return nil }
    return SecIdentity(certificate, privateKey)
}

/// Returns the identity of a certificate with a private key in the keychain.
///
/// - Parameters:
///   - keychainOrArray: a `SecKeychain`, an array of them, or nil for the search list.
///   - certificateRef: the certificate.
///   - identityRef: receives the identity.
/// - Returns: errSecItemNotFound if the keychain does not hold the private key.
@discardableResult
public func SecIdentityCreateWithCertificate(
    _ keychainOrArray: Any?, _ certificateRef: SecCertificate, _ identityRef: UnsafeMutablePointer<SecIdentity?>
) -> OSStatus {
    status {
        let keychains = try ChosenKeychains(parameter: keychainOrArray)
        identityRef.pointee = SecIdentity(certificateRef, try SecKey(ofCertificate: certificateRef, in: keychains))
    }
}

extension SecKey {
    /// An identity with the keychain's private key that belongs to a certificate.
    convenience init(
        ofCertificate certificate: SecCertificate, in keychains: ChosenKeychains = .searchList
    ) throws(KeychainError) {
        let query = ItemQuery(
            .key,
            attributes: [
                .applicationLabel: .data(certificate.body.publicKeyHash),
                .keyClass: .number(KeyHalf.privateKey.rawValue),
            ], synchronizable: .any)
        let found = try keychains.session().copyMatching(query, returning: .attributes)
        guard let record = found.records.first else { throw .itemNotFound }
        self.init(try .stored(at: record.persistentReference, .asking, keychains))
    }
}

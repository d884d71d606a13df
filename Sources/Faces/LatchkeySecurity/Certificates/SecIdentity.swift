// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
public import Foundation
internal import KeyServices
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService

/// A certificate together with its private key.
///
/// Not made by its initialiser but by PKCS #12 import and the keychain. Immutable; two are equal when their certificates and keys are.
public final class SecIdentity: NSObject, Sendable {
    let certificate: SecCertificate
    let privateKey: SecKey

    init(_ certificate: SecCertificate, _ privateKey: SecKey) {
        self.certificate = certificate
        self.privateKey = privateKey
        super.init()
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecIdentity else { return false }
        return certificate == other.certificate && privateKey == other.privateKey
    }

    public override var hash: Int { certificate.hash }

    /// The certificate's subject, such as `<SecIdentity: example.com>`.
    public override var description: String {
        "<SecIdentity: \(certificate.body.subjectSummary ?? "without a name")>"
    }
}

extension SecIdentity: CoreFoundationType {
    static var typeID: CFTypeID { TypeIdentifier.identity.rawValue }
}

/// What `CFGetTypeID` gives for a `SecIdentity`.
@discardableResult
public func SecIdentityGetTypeID() -> CFTypeID {
    SecIdentity.typeID
}

/// The identity's certificate.
@discardableResult
public func SecIdentityCopyCertificate(
    _ identityRef: SecIdentity, _ certificateRef: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
    certificateRef.pointee = identityRef.certificate
    return errSecSuccess
}

/// The identity's private key.
@discardableResult
public func SecIdentityCopyPrivateKey(_ identityRef: SecIdentity, _ privateKeyRef: UnsafeMutablePointer<SecKey?>)
    -> OSStatus
{
    privateKeyRef.pointee = identityRef.privateKey
    return errSecSuccess
}

/// An identity of a certificate and a private key, neither of which has to be in the keychain.
///
/// - Returns: nil where the key is no private one, or not the certificate's.
@discardableResult
public func SecIdentityCreate(_ allocator: CFAllocator?, _ certificate: SecCertificate, _ privateKey: SecKey)
    -> SecIdentity?
{
    guard privateKey.body.isPrivate, let publicKey = SecCertificateCopyKey(certificate),
        publicKey.body.publicKey.external == privateKey.body.publicKey.external
    else { return nil }
    return SecIdentity(certificate, privateKey)
}

/// The identity of a certificate whose private key is in the keychain.
///
/// - Parameter keychainOrArray: accepted; there is one keychain.
/// - Returns: errSecItemNotFound where there is no such key.
@discardableResult
public func SecIdentityCreateWithCertificate(
    _ keychainOrArray: Any?, _ certificateRef: SecCertificate, _ identityRef: UnsafeMutablePointer<SecIdentity?>
) -> OSStatus {
    status {
        identityRef.pointee = SecIdentity(certificateRef, try SecKey(ofCertificate: certificateRef))
    }
}

extension SecKey {
    /// The private key of the keychain that a certificate is for.
    convenience init(ofCertificate certificate: SecCertificate) throws(KeychainError) {
        let query = ItemQuery(
            .key,
            attributes: [
                .applicationLabel: .data(certificate.body.publicKeyHash),
                .keyClass: .number(KeyHalf.privateKey.rawValue),
            ], synchronizable: .any)
        let found = try KeychainClient.service().copyMatching(
            query, returning: .attributes, from: KeychainClient.caller)
        guard let record = found.records.first else { throw .itemNotFound }
        self.init(try .stored(at: record.persistentReference))
    }
}

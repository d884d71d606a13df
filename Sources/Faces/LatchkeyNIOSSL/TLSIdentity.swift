// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import Foundation
public import LatchkeySecurity
public import NIOSSL

/// The certificates and the private key that one side of a connection shows. The key stays where it
/// is: for a key in the keychain, the service makes the signature of each handshake.
public struct TLSIdentity: Sendable {
    /// The certificates that NIOSSL sends, leaf first.
    public let certificateChain: [NIOSSLCertificateSource]
    /// The key that NIOSSL signs with.
    public var privateKey: NIOSSLPrivateKeySource { .privateKey(NIOSSLPrivateKey(customPrivateKey: key)) }

    private let key: KeychainPrivateKey

    /// - Parameter intermediates: the CAs between the leaf and the anchor, in order, without the anchor.
    /// - Throws: if the key cannot sign for TLS: it must be RSA of at least 2048 bits, or on the curve
    ///   P-256, P-384 or P-521.
    public init(_ identity: SecIdentity, intermediates: [SecCertificate] = []) throws(TLSRefusal) {
        var (leaf, privateKey): (SecCertificate?, SecKey?)
        SecIdentityCopyCertificate(identity, &leaf)
        SecIdentityCopyPrivateKey(identity, &privateKey)
        guard let leaf, let privateKey else { throw .identity("the identity has no certificate or no private key") }
        let encoded = ([leaf] + intermediates).map { [UInt8](Data(referencing: SecCertificateCopyData($0))) }
        do {
            certificateChain = try encoded.map { .certificate(try NIOSSLCertificate(bytes: $0, format: .der)) }
            key = try KeychainPrivateKey(privateKey, of: Certificate(der: encoded[0]))
        } catch let refusal as TLSRefusal {
            throw refusal
        } catch {
            throw .identity("the certificates of the identity cannot be used: \(error)")
        }
    }
}

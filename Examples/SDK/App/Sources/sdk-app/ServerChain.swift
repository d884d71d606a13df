// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import SwiftASN1
import TokenSigner
import X509

/// The certificates of a server and of its CA, made by swift-certificates.
struct ServerChain {
    let authority: Certificate
    let server: Certificate
    /// The key of the server, which Security has generated.
    let serverKey: TokenSigner

    init(host: String, authorityName: String) throws {
        let authorityKey = P256.Signing.PrivateKey()
        let signer = Certificate.PrivateKey(authorityKey)
        let authorityIdentifier = SubjectKeyIdentifier(hash: signer.publicKey)
        let issuer = try DistinguishedName { CommonName(authorityName) }
        let start = Date() - 3600

        authority = try Certificate(
            version: .v3, serialNumber: .init(bytes: [1]), publicKey: signer.publicKey, notValidBefore: start,
            notValidAfter: start + 86400, issuer: issuer, subject: issuer, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                Critical(KeyUsage(keyCertSign: true))
                authorityIdentifier
            },
            issuerPrivateKey: signer)

        serverKey = try TokenSigner(generatingKeyFor: .es256)
        let publicKey = try P256.Signing.PublicKey(x963Representation: try serverKey.publicKey())
        server = try Certificate(
            version: .v3, serialNumber: .init(bytes: [2]), publicKey: .init(publicKey), notValidBefore: start,
            notValidAfter: start + 86400, issuer: issuer, subject: try DistinguishedName { CommonName(host) },
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames([.dnsName(host)])
                AuthorityKeyIdentifier(keyIdentifier: authorityIdentifier.keyIdentifier)
            },
            issuerPrivateKey: signer)
    }

    static func der(_ certificate: Certificate) throws -> Data {
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return Data(serializer.serializedBytes)
    }
}

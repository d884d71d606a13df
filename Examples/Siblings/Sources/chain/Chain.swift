// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import X509

/// swift-certificates alone: it links only where it was compiled without a module called Security.
@main
struct Chain {
    static func main() async throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("Siblings") }
        let certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey), notValidBefore: .now - 60,
            notValidAfter: .now + 3600,
            issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try .init { Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil)) },
            issuerPrivateKey: .init(key))
        var verifier = Verifier(rootCertificates: CertificateStore([certificate])) { RFC5280Policy() }
        guard case .validCertificate = await verifier.validate(leaf: certificate, intermediates: CertificateStore([]))
        else {
            fatalError("the certificate is not valid")
        }
        print("chain: valid")
    }
}

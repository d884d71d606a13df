// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// What is signed as certificates are: a part, an algorithm, a signature.
struct SignedObject: Sendable {
    /// What the signature is of.
    let signedBytes: ArraySlice<UInt8>
    private let algorithm: AlgorithmIdentifier
    private let signature: ArraySlice<UInt8>

    init(of part: ArraySlice<UInt8>, _ algorithm: ASN1Node, _ signature: ASN1Node) throws {
        signedBytes = part
        self.algorithm = try AlgorithmIdentifier(algorithm)
        let bits = try ASN1BitString(derEncoded: signature, withIdentifier: .bitString)
        guard bits.paddingBits == 0 else { throw CertificateError("the signature is not whole bytes") }
        self.signature = bits.bytes
    }

    /// Whether the certificate's key has signed it.
    func isSigned(by certificate: Certificate) -> Bool {
        (try? certificate.verificationKey().isSignature(signature, of: signedBytes, algorithm)) ?? false
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// An object that is signed like a certificate: signed bytes, algorithm, signature.
struct SignedObject: Sendable {
    /// The bytes that the signature covers.
    let signedBytes: ArraySlice<UInt8>
    private let algorithm: AlgorithmIdentifier
    private let signature: ArraySlice<UInt8>

    init(of part: ArraySlice<UInt8>, _ algorithm: ASN1Node, _ signature: ASN1Node) throws {
        signedBytes = part
        self.algorithm = try AlgorithmIdentifier(algorithm)
        let bits = try ASN1BitString(derEncoded: signature, withIdentifier: .bitString)
        guard bits.paddingBits == 0 else { throw CertificateError("the signature is not a whole number of bytes") }
        self.signature = bits.bytes
    }

    /// Whether the object is signed by the certificate's key.
    func isSigned(by certificate: Certificate) -> Bool {
        (try? certificate.verificationKey().isSignature(signature, of: signedBytes, algorithm)) ?? false
    }
}

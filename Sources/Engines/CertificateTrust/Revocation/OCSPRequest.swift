// SPDX-License-Identifier: Apache-2.0

internal import Crypto

/// A request for the status of one certificate (RFC 6960, section 4.1). It uses SHA-1 hashes of the
/// issuer's name and key and has no nonce, because every responder supports that (RFC 5019, section
/// 2.1).
struct OCSPRequest {
    let der: [UInt8]

    static let contentType = "application/ocsp-request"

    init(about certificate: Certificate, of issuer: Certificate) {
        let name = Array(Insecure.SHA1.hash(data: issuer.subject.der))
        let key = Array(Insecure.SHA1.hash(data: issuer.publicKey.key))
        let algorithm = DERElement.of(
            0x30, DERElement.of(0x06, ObjectIdentifier.sha1.content) + DERElement.of(0x05, []))
        let serial = DERElement.of(0x02, Array(certificate.serialNumber))
        let identifier = DERElement.of(0x30, algorithm + DERElement.of(0x04, name) + DERElement.of(0x04, key) + serial)
        // Request, requestList, TBSRequest, OCSPRequest.
        der = (0..<4).reduce(identifier) { element, _ in DERElement.of(0x30, element) }
    }
}

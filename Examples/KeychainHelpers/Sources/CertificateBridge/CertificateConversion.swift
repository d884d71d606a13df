// SPDX-License-Identifier: Apache-2.0

// swift-certificates declares both functions where it was compiled with Apple's Security. Here the
// module has that name for this target alone, so they are declared beside it.

import Security
import SwiftASN1
import X509

extension SecCertificate {
    static func makeWithCertificate(_ certificate: some DERSerializable) throws -> SecCertificate {
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        guard let made = SecCertificateCreateWithData(kCFAllocatorDefault, Data(serializer.serializedBytes) as CFData)
        else {
            throw NSError(domain: NSOSStatusErrorDomain, code: Int(errSecUnknownFormat))
        }
        return made
    }
}

extension Certificate {
    init(_ certificate: some SecCertificate) throws {
        try self.init(derEncoded: Array(SecCertificateCopyData(certificate) as Data))
    }
}

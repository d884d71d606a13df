// SPDX-License-Identifier: Apache-2.0

// X509 declares both functions itself if it was compiled while a module called Security was visible
// (`#if canImport(Security)`). On Linux this depends on the build order: X509 does not declare a
// dependency on Security, so SwiftPM may compile X509 before Security exists, and find it in the
// next build. These two functions exist in either case. They are generic, so the compiler prefers
// X509's own functions if they exist.

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

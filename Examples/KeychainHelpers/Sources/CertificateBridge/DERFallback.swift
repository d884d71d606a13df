// SPDX-License-Identifier: Apache-2.0

// X509 has both of these itself where it was compiled with a module called Security in sight (`#if canImport(Security)`). On Linux that is a
// matter of luck: nothing tells SwiftPM that X509 would like Security, so it may compile X509 before Security exists, and find it the next
// time. These two are there in either case. Because they are generic, X509's own are preferred wherever there are any.

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

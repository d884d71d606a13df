// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CertificateTrust

/// Host names that are compared with a domain.
@Suite("HostName")
struct HostNameTests {
    @Test(
        "The labels below a domain are counted, and a name that only ends like the domain is not below it",
        arguments: [
            ("example.com", "example.com", 0), ("www.example.com", "example.com", 1),
            ("a.b.example.com", "example.com", 2), ("EXAMPLE.com.", "example.com", 0),
            ("notexample.com", "example.com", nil), ("example.com", "www.example.com", nil),
            ("example.org", "example.com", nil), ("com", "example.com", nil), ("a.com", "com", 1),
        ] as [(String, String, Int?)])
    func below(_ name: String, _ parent: String, _ expected: Int?) throws {
        let (name, parent) = (try #require(HostName(name)), try #require(HostName(parent)))
        #expect(name.labels(below: parent) == expected)
        #expect(name.labels.joined(separator: ".") == name.description)
    }

    @Test("The size of a key and the hash of a signature are read from the certificate")
    func strength() throws {
        let issuer = Issuer("Issuer")
        let leaf = try Issuer("Leaf").leaf(by: issuer)
        #expect(leaf.publicKey.bits == 256 && leaf.signatureHash == .sha256)
        let old = try Issuer("Leaf").leaf(by: issuer) {
            $0.innerAlgorithm = DERWriter.sequence(DERWriter.identifier("1.2.840.10045.4.1"))
            $0.outerAlgorithm = $0.innerAlgorithm
        }
        #expect(old.signatureHash == .sha1)
        let unknown = try Issuer("Leaf").leaf(by: issuer) {
            $0.innerAlgorithm = DERWriter.sequence(DERWriter.identifier("1.3.101.113"))
            $0.outerAlgorithm = $0.innerAlgorithm
        }
        #expect(unknown.signatureHash == nil)
    }
}

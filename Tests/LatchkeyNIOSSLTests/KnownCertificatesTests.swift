// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import KeychainTesting
import Testing

@testable import LatchkeyNIOSSL

/// The certificates that are parsed once.
@Suite("Known certificates")
struct KnownCertificatesTests {
    @Test("A certificate is parsed once, and another one with other bytes is another certificate")
    func known() throws {
        let (lab, known) = (try Lab.shared(), KnownCertificates())
        let (root, other) = (try lab.authority.root.parsed().der, try lab.other.root.parsed().der)
        let first = try known.certificate(der: root)
        #expect(try known.certificate(der: root) === first)
        #expect(try known.certificate(der: other).der == other)
        #expect(known.count == 2)
    }

    @Test("Bytes that are no certificate are refused each time, and not kept")
    func damaged() throws {
        let known = KnownCertificates()
        for _ in 0..<2 { #expect(throws: CertificateError.self) { try known.certificate(der: [0x30, 0x01]) } }
        #expect(known.count == 0)
    }

    @Test("Peers with many certificates do not make the process grow, and those in use are kept")
    func bounded() throws {
        let (lab, known) = (try Lab.shared(), KnownCertificates())
        let root = try lab.authority.root.parsed().der
        let first = try known.certificate(der: root)
        // The end of the signature; it is not evaluated here.
        let end = root.count - 1
        for number in 0..<300 {
            var der = root
            (der[end - 1], der[end]) = (UInt8(number / 256), UInt8(number % 256))
            _ = try known.certificate(der: der)
            #expect(try known.certificate(der: root) === first)
        }
        #expect(known.count <= 128)
    }
}

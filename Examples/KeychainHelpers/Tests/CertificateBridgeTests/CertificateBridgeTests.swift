// SPDX-License-Identifier: Apache-2.0

import CertificateBridge
import Security
import Testing
import X509

@Suite("CertificateBridge")
struct CertificateBridgeTests {
    @Test("a certificate converted to Security and back is unchanged")
    func roundTrip() throws {
        let certificate = try Certificate(derEncoded: Array(Self.der))
        let reference = try CertificateBridge.reference(for: certificate)
        #expect(SecCertificateCopyData(reference) as Data == Self.der)
        #expect(try CertificateBridge.certificate(for: reference) == certificate)
    }

    @Test("swift-certificates reads a certificate of Security")
    func reading() throws {
        let reference = try #require(SecCertificateCreateWithData(kCFAllocatorDefault, Self.der as CFData))
        let certificate = try CertificateBridge.certificate(for: reference)
        #expect(certificate.subject.description == "CN=latchkey test")
        #expect(certificate.publicKey.isValidSignature(certificate.signature, for: certificate))
    }

    @Test("data with only the outer structure of a certificate is refused")
    func hollow() {
        // A sequence of two sequences and a bit string: the outer structure of a certificate,
        // without content.
        let shape = Data([0x30, 12, 0x30, 2, 5, 0, 0x30, 2, 5, 0, 0x03, 2, 0, 0])
        #expect(SecCertificateCreateWithData(kCFAllocatorDefault, shape as CFData) == nil)
    }

    /// Self-signed, P-256, created with `openssl req -x509 -newkey ec -pkeyopt
    /// ec_paramgen_curve:P-256 -nodes -subj "/CN=latchkey test"`.
    private static let der =
        Data(
            base64Encoded: """
                MIIBhzCCAS2gAwIBAgIUIgHs54soCR9gmemp0/QM5+E6wpswCgYIKoZIzj0EAwIwGDEWMBQGA1UEAwwNbGF0Y2hrZXkgdGVzdDAgFw0yNjExMjEwNTI2MTNa
                GA8yMTI2MTAyODA1MjYxM1owGDEWMBQGA1UEAwwNbGF0Y2hrZXkgdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDRQnQsL/yoyrLEnpNpwwUEkiqTI
                Z/Y232xKAUzcz23G9pZV5VSVD2+OL1O8PoadyB6hZI7Ib1T1/BGtpteEt2ajUzBRMB0GA1UdDgQWBBSK6gm9zHM17NISs83a8Kq2NI8uyDAfBgNVHSMEGDAW
                gBSK6gm9zHM17NISs83a8Kq2NI8uyDAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQDlGvmIPaK9BgQfN6PgNNAq5wXpCc1/ICJOv9pje6JN
                EgIgQe+o50Eg58ZoF/vPlxwCmN/bkirB+QEr8mdDXwoY9ac=
                """,
            options: .ignoreUnknownCharacters
        ) ?? Data()
}

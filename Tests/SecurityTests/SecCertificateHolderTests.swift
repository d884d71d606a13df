// SPDX-License-Identifier: Apache-2.0

import Security
import Testing

/// A `SecCertificate` holds the bytes it was given, and takes none that are not shaped like a certificate.
@Suite("SecCertificate")
struct SecCertificateHolderTests {
    @Test("a certificate keeps its bytes")
    func bytes() throws {
        let certificate = try #require(SecCertificateCreateWithData(kCFAllocatorDefault, Self.real as CFData))
        #expect(SecCertificateCopyData(certificate) as Data == Self.real)
        #expect(CFGetTypeID(certificate) == SecCertificateGetTypeID())
    }

    @Test("a certificate is not changed through the data it was made of")
    func copiesBytes() throws {
        let data = NSMutableData(data: Self.real)
        let certificate = try #require(SecCertificateCreateWithData(nil, data))
        data.length = 0
        #expect(SecCertificateCopyData(certificate) as Data == Self.real)
    }

    @Test("two certificates are equal when their bytes are")
    func equality() throws {
        let certificate = try #require(SecCertificateCreateWithData(nil, Self.real as CFData))
        #expect(certificate == SecCertificateCreateWithData(nil, Self.real as CFData))
        #expect(certificate.hash == SecCertificateCreateWithData(nil, Self.real as CFData)?.hash)
        #expect(certificate != SecCertificateCreateWithData(nil, Self.smallest as CFData))
        #expect(!certificate.isEqual("certificate"))
    }

    @Test("every truncation is refused, and so is a byte too many", arguments: [real, smallest, long])
    func length(der: Data) {
        #expect(SecCertificateCreateWithData(nil, der as CFData) != nil)
        for count in 0..<der.count {
            #expect(SecCertificateCreateWithData(nil, der.prefix(count) as CFData) == nil, "\(count) bytes")
        }
        for byte: UInt8 in [0x00, 0x0A, 0x30] {
            #expect(SecCertificateCreateWithData(nil, der + [byte] as CFData) == nil, "and \(byte)")
        }
    }

    @Test("bytes of another shape are refused", arguments: Misshapen.all)
    func shape(misshapen: Misshapen) {
        #expect(SecCertificateCreateWithData(nil, Data(misshapen.bytes) as CFData) == nil)
    }

    @Test("no single changed byte is a trap, and only a change that keeps the outer shape is taken")
    func everyByteChanged() {
        for position in Self.smallest.indices {
            for value in UInt8.min...UInt8.max {
                var der = Self.smallest
                der[position] = value
                let certificate = SecCertificateCreateWithData(nil, der as CFData)
                // Content starts behind the tags and lengths of the three members.
                let isContent = [4, 5, 8, 9, 12, 13].contains(position)
                #expect((certificate != nil) == (isContent || der == Self.smallest), "\(value) at \(position)")
            }
        }
    }
}

// MARK: - Cases

extension SecCertificateHolderTests {
    /// Self-signed, P-256, made with `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=latchkey test"`.
    private static let real =
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

    /// The shape and nothing else: a sequence of two sequences and a bit string, with two bytes in each.
    private static let smallest = Data([0x30, 12, 0x30, 2, 5, 0, 0x30, 2, 5, 0, 0x03, 2, 0, 0])

    /// A sequence whose length takes two bytes, around a signed part of 256.
    private static let long = Data(
        [0x30, 0x82, 0x01, 0x09] + [0x30, 0x82, 0x01, 0x00] + [UInt8](repeating: 0, count: 256) + [0x30, 0, 0x03, 1, 0]
    )

    struct Misshapen: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]

        init(_ description: String, _ bytes: [UInt8]) {
            testDescription = description
            self.bytes = bytes
        }

        static let all = [
            Misshapen("nothing", []),
            Misshapen("an empty sequence", [0x30, 0]),
            Misshapen("PEM", Array("-----BEGIN CERTIFICATE-----\n".utf8)),
            Misshapen("a set", [0x31, 7, 0x30, 0, 0x30, 0, 0x03, 1, 0]),
            Misshapen("two members", [0x30, 4, 0x30, 0, 0x30, 0]),
            Misshapen("four members", [0x30, 9, 0x30, 0, 0x30, 0, 0x03, 1, 0, 5, 0]),
            Misshapen("no signature", [0x30, 7, 0x30, 0, 0x30, 0, 0x04, 1, 0]),
            Misshapen("no algorithm", [0x30, 7, 0x30, 0, 0x31, 0, 0x03, 1, 0]),
            Misshapen("a signed part that is no sequence", [0x30, 7, 0xA0, 0, 0x30, 0, 0x03, 1, 0]),
            Misshapen("a member longer than what contains it", [0x30, 7, 0x30, 0, 0x30, 0, 0x03, 2, 0]),
            Misshapen("half a member at the end", [0x30, 8, 0x30, 0, 0x30, 0, 0x03, 1, 0, 0x30]),
            Misshapen("an indefinite length", [0x30, 0x80, 0x30, 0, 0x30, 0, 0x03, 1, 0, 0, 0]),
            Misshapen("a length in more bytes than needed", [0x30, 0x81, 7, 0x30, 0, 0x30, 0, 0x03, 1, 0]),
            Misshapen("a length with a leading zero", [0x30, 0x82, 0, 7, 0x30, 0, 0x30, 0, 0x03, 1, 0]),
            Misshapen("a length of 127 bytes", [0x30, 0xFF] + [UInt8](repeating: 0xFF, count: 200)),
            Misshapen("the greatest length", [0x30, 0x88] + [UInt8](repeating: 0xFF, count: 8)),
            Misshapen("a tag in several bytes", [0x3F, 0x81, 0x10, 7, 0x30, 0, 0x30, 0, 0x03, 1, 0]),
        ]
    }
}

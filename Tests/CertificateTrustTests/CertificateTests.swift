// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeychainTesting
import Testing

@testable import CertificateTrust

/// Certificates are read as openssl reads them; invalid bytes are refused without a trap.
@Suite("Certificate")
struct CertificateTests {
    private static let key = P256.Signing.PrivateKey()

    private static var plain: CertificateTemplate {
        CertificateTemplate(
            issuer: CertificateTemplate.name("issuer"), subject: CertificateTemplate.name("subject"),
            publicKey: CertificateTemplate.publicKey(key))
    }

    /// A certificate made by openssl with these extensions.
    private static func made(_ words: [String], _ extensions: [String] = []) throws -> (
        certificate: Certificate, file: String, OpenSSL
    ) {
        let openssl = try OpenSSL()
        let file = openssl.path("certificate.pem")
        let added = extensions.flatMap { ["-addext", $0] }
        try openssl.output(
            ["req", "-x509", "-nodes", "-keyout", openssl.path("key.pem"), "-out", file] + words + added)
        return (try Certificate(der: openssl.output(["x509", "-in", file, "-outform", "DER"])), file, openssl)
    }

    @Test(
        "Names, times, serial number and key are read as openssl reads them", .long,
        arguments: [
            ["-newkey", "rsa:2048", "-subj", "/C=DE/O=Example, Ltd/OU=a+b/CN=example.com", "-days", "1"],
            ["-newkey", "rsa:1024", "-subj", "/CN=# first/serialNumber=7", "-days", "36500"],
            [
                "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-subj", "/DC=com/DC=example/CN=a \\+ b",
                "-set_serial", "0",
            ],
            ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:secp224r1", "-subj", "/CN=p224", "-sha1"],
            ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:secp256k1", "-subj", "/CN=k1", "-set_serial", "-5"],
            ["-newkey", "ed25519", "-subj", "/CN=ed25519"],
            [
                "-newkey", "ed448", "-subj", "/CN=ed448", "-set_serial",
                "0x00ffffffffffffffffffffffffffffffffffffffffffff",
            ],
            ["-newkey", "rsa-pss", "-pkeyopt", "rsa_keygen_bits:2048", "-subj", "/CN=pss"],
        ])
    func asOpenSSL(_ words: [String]) throws {
        let (certificate, file, openssl) = try Self.made(words)
        func opensslOutput(_ words: String...) throws -> String {
            String(decoding: try openssl.output(["x509", "-in", file, "-noout"] + words), as: UTF8.self)
                .trimmingCharacters(in: .newlines)
        }
        #expect(certificate.defects.isEmpty)
        #expect(certificate.version == 3)
        #expect(try opensslOutput("-subject", "-nameopt", "RFC2253") == "subject=\(certificate.subject)")
        #expect(certificate.isSelfIssued)
        let serial = try opensslOutput("-serial")
        let digits = certificate.serialNumber.map { String(format: "%02X", $0) }.joined()
        let isNegative = serial.contains("-")
        #expect(
            isNegative
                ? digits == "FB"
                : serial.dropFirst(7)
                    == (digits.hasPrefix("00") && digits.count > 2 ? digits.dropFirst(2) : digits[...]))
        let dates = try opensslOutput("-dates", "-dateopt", "iso_8601").replacingOccurrences(of: " ", with: "T")
        #expect(dates == "notBefore=\(certificate.validity.notBefore)\nnotAfter=\(certificate.validity.notAfter)")
        let pem = try openssl.file(openssl.output(["x509", "-in", file, "-noout", "-pubkey"]))
        #expect(
            try openssl.output(["pkey", "-pubin", "-in", pem, "-outform", "DER"]) == Array(certificate.publicKey.der))
    }

    @Test("Extensions are read with the values that openssl wrote")
    func extensions() throws {
        let (certificate, _, _) = try Self.made(
            ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-subj", "/CN=a"],
            [
                "basicConstraints=critical,CA:TRUE,pathlen:3",
                "keyUsage=critical,digitalSignature,keyCertSign,decipherOnly",
                "extendedKeyUsage=serverAuth,1.2.3.4",
                "subjectAltName=DNS:a.example,IP:192.0.2.1,IP:2001:db8::1,email:a@b.example,URI:https://c.example/d",
                "nameConstraints=critical,permitted;DNS:.example,excluded;IP:10.0.0.0/255.0.0.0",
                "certificatePolicies=1.2.3.4,2.23.140.1.2.1",
                "policyConstraints=requireExplicitPolicy:3,inhibitPolicyMapping:0",
                "inhibitAnyPolicy=2",
                "authorityInfoAccess=OCSP;URI:http://ocsp.example,caIssuers;URI:http://ca.example/a.crt",
                "1.2.3.4.5=critical,ASN1:NULL",
            ])
        let extensions = certificate.extensions
        #expect(certificate.defects.isEmpty)
        #expect(extensions.basicConstraints?.isCA == true && extensions.basicConstraints?.pathLength == 3)
        #expect(extensions.keyUsage == [.digitalSignature, .keyCertSign, .decipherOnly])
        #expect(extensions.extendedKeyUsages?.map(\.description) == ["1.3.6.1.5.5.7.3.1", "1.2.3.4"])
        #expect(
            extensions.subjectAlternativeNames?.map(\.description) == [
                "DNS:a.example", "IP:192.0.2.1", "IP:2001:db8::1", "email:a@b.example", "URI:https://c.example/d",
            ])
        #expect(extensions.nameConstraints?.permitted.map(\.description) == ["DNS:.example"])
        #expect(extensions.nameConstraints?.excluded.map(\.kind) == [.ip])
        #expect(extensions.certificatePolicies?.map(\.description) == ["1.2.3.4", "2.23.140.1.2.1"])
        #expect(
            extensions.policyConstraints?.requireExplicitPolicy == 3
                && extensions.policyConstraints?.inhibitPolicyMapping == 0)
        #expect(extensions.inhibitAnyPolicy == 2)
        #expect(extensions.authorityInformation?.ocspResponders == ["http://ocsp.example"])
        #expect(extensions.authorityInformation?.issuerCertificates == ["http://ca.example/a.crt"])
        #expect(extensions.unknownCritical.map(\.description) == ["1.2.3.4.5"])
        #expect(
            extensions.subjectKeyIdentifier.map(Array.init)
                == extensions.authorityKeyIdentifier?.keyIdentifier.map(Array.init))
        #expect(extensions.subjectKeyIdentifier?.count == 20)
        #expect(extensions[.keyUsage]?.isCritical == true && extensions[.extendedKeyUsage]?.isCritical == false)
    }

    @Test("Every certificate of the system's bundle is read without defects")
    func bundle() throws {
        let text = try String(contentsOfFile: "/etc/ssl/certs/ca-certificates.crt", encoding: .utf8)
        let blocks = text.components(separatedBy: "-----END CERTIFICATE-----").dropLast()
        #expect(blocks.count > 50)
        for block in blocks {
            let base64 = try #require(block.components(separatedBy: "-----BEGIN CERTIFICATE-----").last)
            let der = try #require(Data(base64Encoded: base64, options: .ignoreUnknownCharacters))
            let certificate = try Certificate(der: Array(der))
            #expect(certificate.defects.isEmpty, "\(certificate.subject)")
            #expect(certificate.isSelfIssued && certificate.der == Array(der))
        }
    }

    // MARK: Syntax

    @Test("Syntax violations are reported as defects, and the rest is read")
    func defects() throws {
        func defects(_ change: (inout CertificateTemplate) -> Void) throws -> [String] {
            var template = Self.plain
            template.extensions = [CertificateTemplate.extension("2.5.29.19", critical: true, DERWriter.sequence())]
            change(&template)
            return try template.certificate(by: Self.key).defects
        }
        #expect(try defects { _ in } == [])
        #expect(try defects { $0.version = nil } == ["a certificate of version 1 has a field of a later version"])
        #expect(try defects { $0.version = 1 }.count == 2)
        #expect(try defects { $0.version = 2 } == ["a certificate of version 2 has a field of a later version"])
        #expect(try defects { ($0.version, $0.extensions) = (nil, nil) } == [])
        #expect(try defects { $0.extensions = [] } == ["the list of extensions is empty"])
        #expect(
            try defects { $0.extensions = ($0.extensions ?? []) + ($0.extensions ?? []) } == [
                "the extension 2.5.29.19 occurs twice"
            ])
        #expect(
            try defects { $0.outerAlgorithm = DERWriter.sequence(DERWriter.identifier("1.2.840.10045.4.3.3")) }.count
                == 1)
        for (identifier, value) in [
            ("2.5.29.19", DERWriter.sequence(DERWriter.boolean(false))),
            ("2.5.29.19", DERWriter.sequence(DERWriter.integer(0))),
            ("2.5.29.19", DERWriter.sequence(DERWriter.boolean(true), DERWriter.integer(-1))),
            ("2.5.29.15", DERWriter.bits([0])),
            ("2.5.29.15", DERWriter.bits([0x80, 0, 0x80])), ("2.5.29.37", DERWriter.sequence()),
            ("2.5.29.17", DERWriter.sequence()),
            ("2.5.29.17", DERWriter.sequence(DERWriter.implicit(2, [0xC3, 0xA9]))), ("2.5.29.30", DERWriter.sequence()),
            ("2.5.29.30", DERWriter.sequence(DERWriter.explicit(0, []))), ("2.5.29.36", DERWriter.sequence()),
            ("2.5.29.54", DERWriter.integer(-1)), ("2.5.29.14", DERWriter.integer(1)),
            ("2.5.29.32", DERWriter.sequence()),
            ("2.5.29.19", DERWriter.sequence() + [0]),
        ] {
            let found = try defects { $0.extensions = [CertificateTemplate.extension(identifier, value)] }
            #expect(found.count == 1 && found[0].contains(identifier), "\(identifier) \(value): \(found)")
        }
    }

    @Test(
        "Object identifiers are compared by all arcs, even of over 64 bits, and must be minimally encoded"
    )
    func identifiers() throws {
        func decodedText(_ content: [UInt8]) throws -> String? {
            var template = Self.plain
            template.extensions = [DERWriter.sequence(DERWriter.element(0x06, content), DERWriter.octets([5, 0]))]
            return try template.certificate(by: Self.key).extensions.all.first?.identifier.description
        }
        #expect(try decodedText([0x55, 0x1D, 0x11]) == "2.5.29.17")
        #expect(try decodedText([0x88, 0x37, 0x03]) == "2.999.3")
        #expect(try decodedText([0x69] + [UInt8](repeating: 0xFF, count: 18) + [0x01]) == "2.25.…")
        #expect(
            try decodedText([0x2A, 0x83, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]) == "1.2.288230376151711743")
        for wrong in [[], [0x80, 0x01], [0x2A, 0x80, 0x01], [0x2A, 0x86], [0x2A, 0x01, 0x80]] as [[UInt8]] {
            #expect(throws: CertificateError.self, "\(wrong)") { try decodedText(wrong) }
        }
    }

    @Test("Times must have seconds, be in UTC without fractions, and exist in the calendar")
    func times() throws {
        func time(_ element: [UInt8]) throws -> String {
            var template = Self.plain
            template.extensions = nil
            template.notAfter = element
            return try template.certificate(by: Self.key).validity.notAfter.description
        }
        let utc = { (text: String) in DERWriter.element(0x17, Array(text.utf8)) }
        let generalized = { (text: String) in DERWriter.element(0x18, Array(text.utf8)) }
        #expect(try time(utc("490101000000Z")) == "2049-01-01T00:00:00Z")
        #expect(try time(utc("500101000000Z")) == "1950-01-01T00:00:00Z")
        #expect(try time(generalized("99991231235959Z")) == "9999-12-31T23:59:59Z")
        #expect(try time(generalized("00010101000000Z")) == "0001-01-01T00:00:00Z")
        #expect(try time(generalized("20240229120000Z")) == "2024-02-29T12:00:00Z")
        for wrong in [
            utc("4901010000Z"), utc("490101000000+0100"), utc("491301000000Z"), utc("490230000000Z"),
            utc("490101240000Z"), utc(""),
            generalized("20500101000000.5Z"), generalized("20500101000000"), generalized("20230229000000Z"),
            generalized("205001010000Z"),
            DERWriter.integer(5),
        ] {
            #expect(throws: CertificateError.self, "\(wrong)") { try time(wrong) }
        }
    }

    @Test("Names are compared regardless of string type, case and spaces; a prefix is a subtree")
    func names() throws {
        func name(_ values: (tag: UInt8, text: [UInt8])...) throws -> DistinguishedName {
            var template = Self.plain
            template.subject = DERWriter.sequence(
                values.flatMap {
                    DERWriter.set(
                        DERWriter.sequence(DERWriter.identifier("2.5.4.10"), DERWriter.element($0.tag, $0.text)))
                })
            template.extensions = nil
            return try template.certificate(by: Self.key).subject
        }
        let utf8 = try name((0x0C, Array("Example  Ltd ".utf8)))
        #expect(utf8.matches(try name((0x13, Array("EXAMPLE Ltd".utf8)))))
        #expect(utf8.matches(try name((0x1E, Array("example ltd".utf8).flatMap { [0, $0] }))))
        #expect(!utf8.matches(try name((0x13, Array("Example Ltd.".utf8)))))
        #expect(!utf8.matches(try name((0x0C, Array("Example Ltd".utf8)), (0x0C, Array("b".utf8)))))
        let longer = try name((0x0C, Array("Example Ltd".utf8)), (0x0C, Array("b".utf8)))
        #expect(longer.normalizedRelativeNames.starts(with: utf8.normalizedRelativeNames))
        #expect(!utf8.normalizedRelativeNames.starts(with: longer.normalizedRelativeNames))
        // A value without text is compared byte by byte.
        #expect(
            try name((0x0C, [0xFF])).matches(name((0x0C, [0xFF])))
                && !name((0x0C, [0xFF])).matches(name((0x0C, [0xFE]))))
        #expect(try name((0x0C, Array("a\u{1B}[31m".utf8))).description == "O=a\\1b[31m")
    }

    // MARK: Malformed input

    @Test("Truncated, lengthened or changed bytes are an error or another certificate, never a trap")
    func spoiled() throws {
        var template = Self.plain
        template.extensions = [
            CertificateTemplate.extension(
                "2.5.29.17", DERWriter.sequence(DERWriter.implicit(2, Array("a.example".utf8)))),
            CertificateTemplate.extension("2.5.29.35", DERWriter.sequence(DERWriter.implicit(0, [1, 2, 3]))),
        ]
        let der = try template.signed(by: Self.key)
        for count in 0..<der.count {
            #expect(throws: CertificateError.self, "\(count) bytes") {
                try TimeLimit.within { try Certificate(der: Array(der.prefix(count))) }
            }
        }
        #expect(throws: CertificateError.self) { try Certificate(der: der + [0]) }
        var read = 0
        for index in der.indices {
            for change: UInt8 in [0x01, 0x7F, 0x80, 0xFF] {
                var changed = der
                changed[index] ^= change
                guard let certificate = try? Certificate(der: changed) else { continue }
                read += 1
                #expect(certificate.der == changed)
                _ = (
                    certificate.subject.description, certificate.issuer.normalized, certificate.defects,
                    certificate.publicKey.kind
                )
            }
        }
        #expect(read > 0)
    }

    @Test("Wrong, non-minimal and indefinite lengths, and deep nesting, are refused")
    func lengths() {
        let lying: [[UInt8]] = [
            [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], [0x30, 0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            [0x30, 0x80, 0, 0],
            [0x30, 0x81, 0x00], [0x30, 0xFF] + [UInt8](repeating: 0xFF, count: 127), [],
            (0..<100_000).flatMap { _ in [0x30, 0x80] as [UInt8] },
        ]
        for bytes in lying + [nested(60), nested(10_000)] {
            #expect(throws: CertificateError.self) { try TimeLimit.within { try Certificate(der: bytes) } }
        }
    }

    private func nested(_ depth: Int) -> [UInt8] {
        var lengths: [[UInt8]] = []
        var length = 0
        for _ in 0..<depth {
            let header = Array(DERWriter.element(0x30, [UInt8](repeating: 0, count: length)).dropLast(length))
            lengths.append(header)
            length += header.count
        }
        return lengths.reversed().flatMap { $0 }
    }

    @Test("Ten thousand names are read in time")
    func manyNames() throws {
        var template = Self.plain
        let names = (0..<10_000).flatMap { DERWriter.implicit(2, Array("host\($0).example".utf8)) }
        template.extensions = [CertificateTemplate.extension("2.5.29.17", DERWriter.element(0x30, names))]
        let der = try template.signed(by: Self.key)
        #expect(try TimeLimit.within { try Certificate(der: der) }.extensions.subjectAlternativeNames?.count == 10_000)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Security
import Testing

/// A `SecCertificate` keeps the bytes it was given, rejects bytes that are not a certificate, and
/// returns the same values as openssl.
@Suite("SecCertificate")
struct SecCertificateTests {
    @Test("a certificate keeps its bytes")
    func bytes() throws {
        let certificate = try #require(SecCertificateCreateWithData(kCFAllocatorDefault, Self.real as CFData))
        #expect(SecCertificateCopyData(certificate) as Data == Self.real)
        #expect(CFGetTypeID(certificate) == SecCertificateGetTypeID())
    }

    @Test("a certificate does not change with the data that it was created from")
    func copiesBytes() throws {
        let data = NSMutableData(data: Self.real)
        let certificate = try #require(SecCertificateCreateWithData(nil, data))
        data.length = 0
        #expect(SecCertificateCopyData(certificate) as Data == Self.real)
    }

    @Test("two certificates are equal if their bytes are equal")
    func equality() throws {
        let certificate = try #require(SecCertificateCreateWithData(nil, Self.real as CFData))
        #expect(certificate == SecCertificateCreateWithData(nil, Self.real as CFData))
        #expect(certificate.hash == SecCertificateCreateWithData(nil, Self.real as CFData)?.hash)
        var other = Self.real
        other[other.count - 1] ^= 1
        #expect(certificate != SecCertificateCreateWithData(nil, other as CFData))
        #expect(!certificate.isEqual("certificate"))
    }

    @Test("every truncation and every additional byte is refused")
    func length() {
        let der = Self.real
        for count in 0..<der.count {
            #expect(SecCertificateCreateWithData(nil, der.prefix(count) as CFData) == nil, "\(count) bytes")
        }
        for byte: UInt8 in [0x00, 0x0A, 0x30] {
            #expect(SecCertificateCreateWithData(nil, der + [byte] as CFData) == nil, "and \(byte)")
        }
    }

    @Test("data with another structure is refused", arguments: MalformedCertificate.all)
    func shape(malformed: MalformedCertificate) {
        #expect(SecCertificateCreateWithData(nil, Data(malformed.bytes) as CFData) == nil)
    }

    @Test("a single changed byte never traps, and an accepted certificate keeps its bytes")
    func everyByteChanged() {
        var taken = 0
        for position in Self.real.indices {
            for change: UInt8 in [0x01, 0x20, 0x80, 0xFF] {
                var der = Self.real
                der[position] ^= change
                guard let certificate = SecCertificateCreateWithData(nil, der as CFData) else { continue }
                taken += 1
                #expect(SecCertificateCopyData(certificate) as Data == der)
                _ = SecCertificateCopySubjectSummary(certificate)
                _ = SecCertificateCopyKey(certificate)
            }
        }
        // Most bytes belong to the key, the signature and the names.
        #expect(taken > Self.real.count)
    }

    // MARK: Content

    @Test("summary, common name, email, serial number, dates, key and pin are equal to openssl's")
    func inspection() throws {
        let authority = try OpenSSLAuthority()
        let extensions = "subjectAltName=email:b@example.com,DNS:example.com\nsubjectKeyIdentifier=hash\n"
        let issued = try authority.issue(
            "/C=DE/O=Example Ltd/OU=Unit/emailAddress=a@example.com/CN=first/CN=last", extensions,
            by: authority.intermediate)
        let certificate = try #require(SecCertificateCreateWithData(nil, issued.der as CFData))
        #expect(SecCertificateCopySubjectSummary(certificate) as String? == "last")
        var name: CFString?
        #expect(SecCertificateCopyCommonName(certificate, &name) == errSecSuccess && name as String? == "last")
        var addresses: CFArray?
        #expect(SecCertificateCopyEmailAddresses(certificate, &addresses) == errSecSuccess)
        #expect(addresses as? [String] == ["b@example.com", "a@example.com"])
        let openssl = authority.openssl
        func opensslOutput(_ word: String...) throws -> String {
            let text = String(
                decoding: try openssl.output(["x509", "-noout", "-in", issued.file] + word), as: UTF8.self)
            return String(text.split(separator: "=", maxSplits: 1).last ?? "").trimmingCharacters(in: .newlines)
        }
        let number = try #require(SecCertificateCopySerialNumberData(certificate, nil)) as Data
        let digits = number.drop { $0 == 0 }.map { String(format: "%02X", $0) }.joined()
        #expect(try opensslOutput("-serial") == digits)
        let format = ISO8601DateFormatter()
        let first = try #require(SecCertificateCopyNotValidBeforeDate(certificate)) as Date
        let last = try #require(SecCertificateCopyNotValidAfterDate(certificate)) as Date
        #expect(
            try opensslOutput("-startdate", "-dateopt", "iso_8601").replacingOccurrences(of: " ", with: "T")
                == format.string(from: first))
        #expect(
            try opensslOutput("-enddate", "-dateopt", "iso_8601").replacingOccurrences(of: " ", with: "T")
                == format.string(from: last))
        let fingerprint = try opensslOutput("-fingerprint", "-sha256").replacingOccurrences(of: ":", with: "")
        #expect(
            SecCertificateCopySHA256Digest(certificate).map { ($0 as Data).hexadecimal.uppercased() } == fingerprint)
        let pem = try openssl.file(openssl.output(["x509", "-noout", "-pubkey", "-in", issued.file]))
        let info = try openssl.file(openssl.output(["pkey", "-pubin", "-in", pem, "-outform", "DER"]))
        let pin = try openssl.output(["dgst", "-sha256", "-binary", info])
        #expect(SecCertificateCopySubjectPublicKeyInfoSHA256Digest(certificate) as Data? == Data(pin))
        let key = try #require(SecCertificateCopyKey(certificate))
        let point = try #require(SecKeyCopyExternalRepresentation(key, nil)) as Data
        #expect(point.count == 65)
        #expect(try Data(openssl.output(["pkey", "-pubin", "-in", pem, "-outform", "DER"])).suffix(65) == point)
    }

    @Test("equal names have equal normalized sequences; a certificate without a name has no summary")
    func names() throws {
        let authority = try OpenSSLAuthority()
        let (root, intermediate) = (authority.root, authority.intermediate)
        let above = try #require(SecCertificateCreateWithData(nil, root.der as CFData))
        let below = try #require(SecCertificateCreateWithData(nil, intermediate.der as CFData))
        let issuer = try #require(SecCertificateCopyNormalizedIssuerSequence(below))
        #expect(issuer == SecCertificateCopyNormalizedSubjectSequence(above))
        #expect(issuer != SecCertificateCopyNormalizedSubjectSequence(below))
        let nameless = try authority.issue("/", "subjectKeyIdentifier=hash\n", by: intermediate)
        let certificate = try #require(SecCertificateCreateWithData(nil, nameless.der as CFData))
        #expect(SecCertificateCopySubjectSummary(certificate) == nil)
        var name: CFString? = "before"
        #expect(SecCertificateCopyCommonName(certificate, &name) == errSecSuccess && name == nil)
    }

    @Test("each value is equal to openssl's and has the structure of macOS")
    func values() throws {
        let authority = try OpenSSLAuthority()
        let issued = try authority.issue(
            "/C=DE/O=Example/CN=example.com/emailAddress=a@example.com",
            """
            basicConstraints=critical,CA:TRUE,pathlen:2
            keyUsage=critical,digitalSignature,keyCertSign,decipherOnly
            extendedKeyUsage=serverAuth
            subjectAltName=DNS:example.com,IP:192.0.2.1,URI:https://example.com/d,email:b@example.com
            subjectKeyIdentifier=hash
            authorityInfoAccess=OCSP;URI:http://ocsp.example
            crlDistributionPoints=URI:http://crl.example/a
            1.2.3.4=DER:0500
            2.5.4.3=DER:0500

            """, by: authority.intermediate)
        let certificate = try #require(SecCertificateCreateWithData(nil, issued.der as CFData))
        let values = try #require(SecCertificateCopyValues(certificate, nil, nil) as? [String: [CFString: Any]])
        func property(_ key: CFString) throws -> [CFString: Any] { try #require(values[key as String], "\(key)") }
        func parts(_ key: CFString) throws -> [String] {
            let properties = try #require(try property(key)[kSecPropertyKeyValue] as? [[CFString: Any]], "\(key)")
            return properties.map { "\($0[kSecPropertyKeyLabel] ?? ""): \($0[kSecPropertyKeyValue] ?? "")" }
        }
        let opensslOutput = try authority.openssl.output(["x509", "-noout", "-serial", "-in", issued.file])
        let serial = try property(kSecOIDX509V1SerialNumber)[kSecPropertyKeyValue] as? String
        #expect(
            serial?.replacingOccurrences(of: " ", with: "").hasSuffix(
                String(decoding: opensslOutput, as: UTF8.self).dropFirst("serial=".count).trimmingCharacters(
                    in: .newlines)) == true)
        #expect(
            try parts(kSecOIDX509V1SubjectName) == [
                "2.5.4.6: DE", "2.5.4.10: Example", "2.5.4.3: example.com", "1.2.840.113549.1.9.1: a@example.com",
            ])
        #expect(try property(kSecOIDX509V1SubjectName)[kSecPropertyKeyType] as? String == "section")
        #expect(try parts(kSecOIDX509V1IssuerName) == ["2.5.4.3: Test intermediate"])
        #expect(try property(kSecOIDX509V1Version)[kSecPropertyKeyValue] as? String == "3")
        let before = try property(kSecOIDX509V1ValidityNotBefore)[kSecPropertyKeyValue] as? Double
        #expect(before == SecCertificateCopyNotValidBeforeDate(certificate)?.timeIntervalSinceReferenceDate)
        let key = try property(kSecOIDX509V1SubjectPublicKey)[kSecPropertyKeyValue] as? Data
        #expect(
            key == SecCertificateCopyKey(certificate).flatMap { SecKeyCopyExternalRepresentation($0, nil) as Data? })
        #expect(try property(kSecOIDCommonName)[kSecPropertyKeyValue] as? [String] == ["example.com"])
        #expect(
            try property(kSecOIDEmailAddress)[kSecPropertyKeyValue] as? [String] == ["b@example.com", "a@example.com"])
        #expect(
            try parts(kSecOIDBasicConstraints) == [
                "Critical: Yes", "Certificate Authority: Yes", "Path Length Constraint: 2",
            ])
        #expect(try property(kSecOIDKeyUsage)[kSecPropertyKeyValue] as? Int == 1 | 1 << 5 | 1 << 8)
        let serverAuth = Data([0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01])
        #expect(try property(kSecOIDExtendedKeyUsage)[kSecPropertyKeyValue] as? [Data] == [serverAuth])
        #expect(
            try parts(kSecOIDSubjectAltName) == [
                "Critical: No", "DNS Name: example.com", "IP Address: 192.0.2.1", "URI: https://example.com/d",
                "Email Address: b@example.com",
            ])
        #expect(try parts(kSecOIDCrlDistributionPoints) == ["Critical: No", "URI: http://crl.example/a"])
        #expect(
            try parts(kSecOIDAuthorityInfoAccess) == [
                "Critical: No", "Access Method: 1.3.6.1.5.5.7.48.1", "URI: http://ocsp.example",
            ])
        #expect(try parts("1.2.3.4").last == "Unparsed Data: 2 bytes")
        #expect(values["2.5.29.30"] == nil)
    }

    @Test("only the requested values are returned, and keys that are not strings give errSecParam")
    func chosenValues() throws {
        let certificate = try #require(SecCertificateCreateWithData(nil, Self.real as CFData))
        let keys = [kSecOIDX509V1ValidityNotAfter, kSecOIDSubjectAltName] as CFArray
        let chosen = try #require(SecCertificateCopyValues(certificate, keys, nil) as? [String: Any])
        #expect(Set(chosen.keys) == [kSecOIDX509V1ValidityNotAfter as String])
        var error: Unmanaged<CFError>?
        #expect(SecCertificateCopyValues(certificate, [1] as CFArray, &error) == nil)
        #expect(error.map { $0.takeRetainedValue().code } == Int(errSecParam))
    }

    @Test(
        "public keys that SecKey supports are returned, others are nil",
        arguments: [
            (["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], 2048),
            (["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"], 384),
            (["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-521"], 521),
            (["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"], nil), (["-algorithm", "ED25519"], nil),
            (["-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048"], nil),
        ] as [([String], Int?)])
    func keys(_ key: [String], _ bits: Int?) throws {
        let authority = try OpenSSLAuthority()
        let issued = try authority.issue("/CN=key", "subjectKeyIdentifier=hash\n", key: key, by: authority.intermediate)
        let certificate = try #require(SecCertificateCreateWithData(nil, issued.der as CFData))
        let attributes = SecCertificateCopyKey(certificate).flatMap(SecKeyCopyAttributes)
        #expect(attributes?[kSecAttrKeySizeInBits] as? Int == bits)
        let (status, key) = Older.calls.publicKey(certificate)
        #expect(status == (bits == nil ? errSecUnsupportedKeyFormat : errSecSuccess))
        #expect(key.flatMap(SecKeyCopyAttributes)?[kSecAttrKeySizeInBits] as? Int == bits)
    }

    /// Calls of deprecated functions. Direct calls would cause warnings in a test.
    private protocol OlderCalls {
        func publicKey(_ certificate: SecCertificate) -> (OSStatus, SecKey?)
    }

    private struct Older: OlderCalls {
        static var calls: any OlderCalls { Older() }

        /// Calls the forms of macOS and of iOS. They must agree.
        @available(*, deprecated)
        func publicKey(_ certificate: SecCertificate) -> (OSStatus, SecKey?) {
            var key: SecKey?
            let status = SecCertificateCopyPublicKey(certificate, &key)
            #expect((SecCertificateCopyPublicKey(certificate) == nil) == (key == nil))
            return (status, key)
        }
    }
}

extension Data {
    fileprivate var hexadecimal: String { map { String(format: "%02x", $0) }.joined() }
}

// MARK: - Cases

extension SecCertificateTests {
    /// Self-signed, P-256, created with `openssl req -x509 -newkey ec -pkeyopt
    /// ec_paramgen_curve:P-256 -nodes -subj "/CN=latchkey test"`.
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

    struct MalformedCertificate: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]

        init(_ description: String, _ bytes: [UInt8]) {
            testDescription = description
            self.bytes = bytes
        }

        static let all = [
            MalformedCertificate("nothing", []),
            MalformedCertificate("the outer shape alone", [0x30, 12, 0x30, 2, 5, 0, 0x30, 2, 5, 0, 0x03, 2, 0, 0]),
            MalformedCertificate(
                "the outer shape around zeros",
                [0x30, 0x82, 0x01, 0x09] + [0x30, 0x82, 0x01, 0x00] + [UInt8](repeating: 0, count: 256)
                    + [0x30, 0, 0x03, 1, 0]),
            MalformedCertificate("an empty sequence", [0x30, 0]),
            MalformedCertificate("PEM", Array("-----BEGIN CERTIFICATE-----\n".utf8)),
            MalformedCertificate("a set", [0x31, 7, 0x30, 0, 0x30, 0, 0x03, 1, 0]),
            MalformedCertificate("two members", [0x30, 4, 0x30, 0, 0x30, 0]),
            MalformedCertificate("four members", [0x30, 9, 0x30, 0, 0x30, 0, 0x03, 1, 0, 5, 0]),
            MalformedCertificate("no signature", [0x30, 7, 0x30, 0, 0x30, 0, 0x04, 1, 0]),
            MalformedCertificate("no algorithm", [0x30, 7, 0x30, 0, 0x31, 0, 0x03, 1, 0]),
            MalformedCertificate("a signed part that is no sequence", [0x30, 7, 0xA0, 0, 0x30, 0, 0x03, 1, 0]),
            MalformedCertificate("a member longer than what contains it", [0x30, 7, 0x30, 0, 0x30, 0, 0x03, 2, 0]),
            MalformedCertificate("half a member at the end", [0x30, 8, 0x30, 0, 0x30, 0, 0x03, 1, 0, 0x30]),
            MalformedCertificate("an indefinite length", [0x30, 0x80, 0x30, 0, 0x30, 0, 0x03, 1, 0, 0, 0]),
            MalformedCertificate("a length in more bytes than needed", [0x30, 0x81, 7, 0x30, 0, 0x30, 0, 0x03, 1, 0]),
            MalformedCertificate("a length with a leading zero", [0x30, 0x82, 0, 7, 0x30, 0, 0x30, 0, 0x03, 1, 0]),
            MalformedCertificate("a length of 127 bytes", [0x30, 0xFF] + [UInt8](repeating: 0xFF, count: 200)),
            MalformedCertificate("the greatest length", [0x30, 0x88] + [UInt8](repeating: 0xFF, count: 8)),
            MalformedCertificate("a tag in several bytes", [0x3F, 0x81, 0x10, 7, 0x30, 0, 0x30, 0, 0x03, 1, 0]),
        ]
    }
}

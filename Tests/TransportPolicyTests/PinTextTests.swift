// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Foundation
import KeychainTesting
import Testing

@testable import TransportPolicy

/// The texts of pins. openssl computes the expected pin of a certificate.
@Suite("Pins as text")
struct PinTextTests {
    /// RFC 7469, section 2.1.5.
    static let example = "d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="

    @Test("PIN-1: the pin of a certificate is openssl's digest of its public key")
    func openssl() throws {
        let authority = try OpenSSLAuthority()
        let keys = [
            OpenSSLAuthority.p256, ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
            ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
        ]
        for key in keys {
            let issued = try authority.issue(
                "/CN=example.com", OpenSSLAuthority.server("DNS:example.com"), key: key, by: authority.root)
            let spki = try authority.openssl.output(["pkey", "-in", issued.keyFile, "-pubout", "-outform", "DER"])
            try Data(spki).write(to: URL(filePath: authority.openssl.path("spki")))
            let hash = try authority.openssl.output(["dgst", "-sha256", "-binary", authority.openssl.path("spki")])
            let pin = Pin(try Certificate(der: Array(issued.der)))
            #expect(pin.base64 == Data(hash).base64EncodedString())
        }
    }

    @Test("A pin with a leading slash in its base64 is parsed in every form, and written as it is parsed")
    func slash() throws {
        let hash = [UInt8](repeating: 0xFF, count: 32)
        let digits = Data(hash).base64EncodedString()
        #expect(digits.hasPrefix("/"))
        for text in [digits, "sha256/\(digits)", "sha256//\(digits)"] { #expect(try Pin(text).hash == hash) }
        let pin = try #require(Pin(hash: hash))
        #expect(try Pin(pin.description) == pin)
    }

    @Test(
        "PIN-2: a pin is parsed from each of its forms, and written in one",
        arguments: ["sha256/\(example)", "sha256//\(example)", example])
    func forms(_ text: String) throws {
        let pin = try Pin(text)
        #expect(pin.description == "sha256/\(Self.example)" && pin.base64 == Self.example && pin.hash.count == 32)
        #expect(try Pin(pin.description) == pin)
    }

    @Test(
        "PIN-3: a text that is not a pin is refused, and the error has the found text",
        arguments: [
            ("", "44 characters"), ("sha256/", "44 characters"), ("sha1/\(example)", "sha1"),
            ("sha512/AAAA", "sha512"), ("SHA-1:aa:bb", "SHA-1"), ("md5//AAAA", "md5"),
            ("SHA256/\(example)", "SHA256"), ("sha256:\(example)", "sha256"), ("pin-sha256/\(example)", "pin-sha256"),
            ("sha256///\(example)", "44 characters"),
            ("77aab346ef7338409bf7451ecf6ef15a5b4db23d1ed4c77b1a4618915a195a63", "hexadecimal"),
            ("sha256/77aab346ef7338409bf7451ecf6ef15a5b4db23d1ed4c77b1a4618915a195a63", "hexadecimal"),
            (String(example.dropLast()), "ends with ="), ("sha256/AAAA", "3 bytes"),
            (" \(example)", "44 characters"), ("\(example)\n", "44 characters"),
            // The bits before the padding are not zero.
            ("d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmN=", "44 characters"),
            ("-----BEGIN PUBLIC KEY-----", "44 characters"), (String(repeating: "A", count: 101), "101 characters"),
            ("d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM\u{FF1D}", "44 characters"),
        ])
    func refused(_ text: String, _ expected: String) {
        let error = #expect(throws: TransportPolicyError.self) { try Pin(text) }
        #expect(error?.description.contains(expected) == true, "\(error?.description ?? "")")
    }

    @Test("PIN-3: a list of pins for curl is parsed completely or refused")
    func list() throws {
        let other = "sha256//" + Data(repeating: 1, count: 32).base64EncodedString()
        #expect(try Pin.list("sha256//\(Self.example);\(other)").count == 2)
        for text in ["", "sha256//\(Self.example);", ";", "sha256//\(Self.example),\(other)"] {
            #expect(throws: TransportPolicyError.self) { try Pin.list(text) }
        }
        #expect(throws: TransportPolicyError.self) { try Pin.list(String(repeating: "a;", count: 10_000)) }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyPayloads
import Testing

/// The keys, messages and signatures of RFC 9421, Appendix B.
struct SignatureVector: Sendable, CustomTestStringConvertible {
    let section, label: String
    let isResponse: Bool
    let input, signature: String
    /// The lines of the signature base before the parameters.
    let lines: [String]

    var testDescription: String { section }

    /// The signature base.
    var base: String { (lines + ["\"@signature-params\": \(input)"]).joined(separator: "\n") }

    func message(signature: String? = nil) throws -> HTTPMessageHead {
        let fields = [
            HTTPField("Signature-Input", "\(label)=\(input)"),
            HTTPField("Signature", "\(label)=:\(signature ?? self.signature):"),
        ]
        return try (isResponse ? Self.response() : Self.request()).adding(fields)
    }

    static let requestBody = Data(#"{"hello": "world"}"#.utf8)
    static let responseBody = Data(#"{"message": "good dog"}"#.utf8)
    static let created: Int64 = 1_618_884_473

    static func request(_ method: String = "POST", query: String = "?param=Value&Pet=dog") throws -> HTTPMessageHead {
        try .request(
            method, url: "https://example.com/foo\(query)",
            fields: [
                HTTPField("Host", "example.com"), HTTPField("Date", "Tue, 20 Apr 2021 02:07:55 GMT"),
                HTTPField("Content-Type", "application/json"), HTTPField("Content-Digest", requestDigest),
                HTTPField("Content-Length", "18"),
            ])
    }

    static func response(to request: HTTPMessageHead? = nil) throws -> HTTPMessageHead {
        try .response(
            200, to: request,
            fields: [
                HTTPField("Date", "Tue, 20 Apr 2021 02:07:56 GMT"), HTTPField("Content-Type", "application/json"),
                HTTPField("Content-Digest", responseDigest), HTTPField("Content-Length", "23"),
            ])
    }

    static let requestDigest =
        "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:"
    static let responseDigest =
        "sha-512=:mEWXIS7MaLRuGgxOBdODa3xqM1XdEvxoYhvlCFJ41QJgJc4GTsPp29l5oGX69wWdXymyU0rjJuahq4l5aGgfLQ==:"

    /// The keys of B.1.2, B.1.3 and B.1.5.
    static func key(_ identifier: String) -> HTTPVerificationKey? {
        switch identifier {
        case "test-key-rsa-pss":
            // The PKCS #1 form is the SubjectPublicKeyInfo without its first 24 bytes.
            (try? RSAPublicKey(pkcs1: decoded(rsaKey).dropFirst(24))).map(HTTPVerificationKey.rsa)
        case "test-key-ecc-p256":
            (try? VerifyingKey<P256Curve>(x963: decoded(curveKey).dropFirst(26))).map(HTTPVerificationKey.p256)
        case "test-shared-secret": .shared(secret)
        default: nil
        }
    }

    static var secret: SharedSecret { SharedSecret(copying: decoded(sharedSecret)) }

    static func decoded(_ text: String) -> Data { Data(base64Encoded: text) ?? Data() }

    private static let rsaKey = """
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAr4tmm3r20Wd/PbqvP1s2\
        +QEtvpuRaV8Yq40gjUR8y2Rjxa6dpG2GXHbPfvMs8ct+Lh1GH45x28Rw3Ry53mm+\
        oAXjyQ86OnDkZ5N8lYbggD4O3w6M6pAvLkhk95AndTrifbIFPNU8PPMO7OyrFAHq\
        gDsznjPFmTOtCEcN2Z1FpWgchwuYLPL+Wokqltd11nqqzi+bJ9cvSKADYdUAAN5W\
        Utzdpiy6LbTgSxP7ociU4Tn0g5I6aDZJ7A8Lzo0KSyZYoA485mqcO0GVAdVw9lq4\
        aOT9v6d+nb4bnNkQVklLQ3fVAvJm+xdDOp9LCNCN48V2pnDOkFV6+U9nV5oyc6XI\
        2wIDAQAB
        """
    private static let curveKey = """
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqIVYZVLCrPZHGHjP17CTW0/+D9Lf\
        w0EkjqF7xB4FivAxzic30tMM4GF+hR6Dxh71Z50VGGdldkkDXZCnTNnoXQ==
        """
    private static let sharedSecret =
        "uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ=="

    /// B.2.1 to B.2.5. B.2.6 is signed with Ed25519, and Ed25519 is not supported.
    static let all: [SignatureVector] = [
        SignatureVector(
            section: "B.2.1", label: "sig-b21", isResponse: false,
            input: #"();created=1618884473;keyid="test-key-rsa-pss";nonce="b3k2pp5k7z-50gnwp.yemd""#,
            signature: """
                d2pmTvmbncD3xQm8E9ZV2828BjQWGgiwAaw5bAkgibUopemLJcWDy/lkbbHAve4cRAtx31Iq786U7it++wgGxbtRxf8Udx7zFZsckzXa\
                JMkA7ChG52eSkFxykJeNqsrWH5S+oxNFlD4dzVuwe8DhTSja8xxbR/Z2cOGdCbzR72rgFWhzx2VjBqJzsPLMIQKhO4DGezXehhWwE56Y\
                CE+O6c0mKZsfxVrogUvA4HELjVKWmAvtl6UnCh8jYzuVG5WSb/QEVPnP5TmcAnLH1g+s++v6d4s8m0gCw1fV5/SITLq9mhho8K3+7EPY\
                TU8IU1bLhdxO5Nyt8C8ssinQ98Xw9Q==
                """,
            lines: []),
        SignatureVector(
            section: "B.2.2", label: "sig-b22", isResponse: false,
            input: #"("@authority" "content-digest" "@query-param";name="Pet");created=1618884473"#
                + #";keyid="test-key-rsa-pss";tag="header-example""#,
            signature: """
                LjbtqUbfmvjj5C5kr1Ugj4PmLYvx9wVjZvD9GsTT4F7GrcQEdJzgI9qHxICagShLRiLMlAJjtq6N4CDfKtjvuJyE5qH7KT8UCMkSowOB\
                4+ECxCmT8rtAmj/0PIXxi0A0nxKyB09RNrCQibbUjsLS/2YyFYXEu4TRJQzRw1rLEuEfY17SARYhpTlaqwZVtR8NV7+4UKkjqpcAoFqW\
                FQh62s7Cl+H2fjBSpqfZUJcsIk4N6wiKYd4je2U/lankenQ99PZfB4jY3I5rSV2DSBVkSFsURIjYErOs0tFTQosMTAoxk//0RoKUqiYY\
                8Bh0aaUEb0rQl3/XaVe4bXTugEjHSw==
                """,
            lines: [
                #""@authority": example.com"#, #""content-digest": "# + requestDigest,
                #""@query-param";name="Pet": dog"#,
            ]),
        SignatureVector(
            section: "B.2.3", label: "sig-b23", isResponse: false,
            input: #"("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "content-length")"#
                + #";created=1618884473;keyid="test-key-rsa-pss""#,
            signature: """
                bbN8oArOxYoyylQQUU6QYwrTuaxLwjAC9fbY2F6SVWvh0yBiMIRGOnMYwZ/5MR6fb0Kh1rIRASVxFkeGt683+qRpRRU5p2voTp768ZrC\
                Ub38K0fUxN0O0iC59DzYx8DFll5GmydPxSmme9v6ULbMFkl+V5B1TP/yPViV7KsLNmvKiLJH1pFkh/aYA2HXXZzNBXmIkoQoLd7YfW91\
                kE9o/CCoC1xMy7JA1ipwvKvfrs65ldmlu9bpG6A9BmzhuzF8Eim5f8ui9eH8LZH896+QIF61ka39VBrohr9iyMUJpvRX2Zbhl5ZJzSRx\
                pJyoEZAFL2FUo5fTIztsDZKEgM4cUA==
                """,
            lines: [
                #""date": Tue, 20 Apr 2021 02:07:55 GMT"#, #""@method": POST"#, #""@path": /foo"#,
                #""@query": ?param=Value&Pet=dog"#, #""@authority": example.com"#,
                #""content-type": application/json"#, #""content-digest": "# + requestDigest,
                #""content-length": 18"#,
            ]),
        SignatureVector(
            section: "B.2.4", label: "sig-b24", isResponse: true,
            input: #"("@status" "content-type" "content-digest" "content-length");created=1618884473"#
                + #";keyid="test-key-ecc-p256""#,
            signature: "wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NKocgPquLgyahnzDnDAUy5eCdlYUEkLIj+32oiasw==",
            lines: [
                #""@status": 200"#, #""content-type": application/json"#,
                #""content-digest": "# + responseDigest, #""content-length": 23"#,
            ]),
        SignatureVector(
            section: "B.2.5", label: "sig-b25", isResponse: false,
            input: #"("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret""#,
            signature: "pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=",
            lines: [
                #""date": Tue, 20 Apr 2021 02:07:55 GMT"#, #""@authority": example.com"#,
                #""content-type": application/json"#,
            ]),
    ]
}

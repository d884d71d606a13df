// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import CertificateTrust

/// The certificates of Tests/Vectors/certificate-timestamps.py, and two of the reference
/// implementation of Certificate Transparency.
struct TransparencyVectors {
    struct Case: Decodable, Sendable, CustomTestStringConvertible {
        let name: String
        let certificate, precertificate: Data
        /// The names of the logs with timestamps that count, in their order.
        let logs: [String]
        /// Whether they are two logs of two operators.
        let satisfied: Bool

        var testDescription: String { name }

        func parsed() throws -> Certificate { try Certificate(der: Array(certificate)) }
    }

    private struct File: Decodable {
        let root: Data
        let cases: [Case]
    }

    let root: Certificate
    let logs: CertificateLogList
    /// The JSON of ``logs``.
    let list: [String: Any]
    let cases: [Case]

    /// 2026-05-28, before the timestamps of the case "the future".
    static let time = 1_780_000_000.0

    static func read() throws -> TransparencyVectors {
        let path = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../Vectors/certificate-timestamps.json")
        let data = try Data(contentsOf: path)
        let file = try JSONDecoder().decode(File.self, from: data)
        let object = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        let list = object?["list"] as? [String: Any] ?? [:]
        return TransparencyVectors(
            root: try Certificate(der: Array(file.root)),
            logs: try CertificateLogList(json: Array(JSONSerialization.data(withJSONObject: list))), list: list,
            cases: file.cases)
    }
}

/// The test data of certificate-transparency-go: testdata/certs.go and testdata/keys.go.
enum ReferenceTimestamps {
    static let logKey = Data(
        base64Encoded: """
            MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEmXg8sUUzwBYaWrRb+V0IopzQ6o3UyEJ04r5ZrRXGdpYM8K+hB0pXrGRLI0eeWz+3skXrS0IO83A\
            hA3GpRL6s6w==
            """)

    static let authority = Data(
        base64Encoded: """
            MIIC0DCCAjmgAwIBAgIBADANBgkqhkiG9w0BAQUFADBVMQswCQYDVQQGEwJHQjEkMCIGA1UEChMbQ2VydGlmaWNhdGUgVHJhbnNwYXJl\
            bmN5IENBMQ4wDAYDVQQIEwVXYWxlczEQMA4GA1UEBxMHRXJ3IFdlbjAeFw0xMjA2MDEwMDAwMDBaFw0yMjA2MDEwMDAwMDBaMFUxCzAJ\
            BgNVBAYTAkdCMSQwIgYDVQQKExtDZXJ0aWZpY2F0ZSBUcmFuc3BhcmVuY3kgQ0ExDjAMBgNVBAgTBVdhbGVzMRAwDgYDVQQHEwdFcncg\
            V2VuMIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDVimhTYhCicRmTbneDIRgcKkATxtB7jHbrkVfT0PtLO1FuzsvRyY2RxS90P6tj\
            XVUJnNE6uvMa5UFEJFGnTHgW8iQ8+EjPKDHM5nugSlojgZ88ujfmJNnDvbKZuDnd/iYx0ss6hPx7srXFL8/BT/9Ab1zURmnLsvfP34b7\
            arnRsQIDAQABo4GvMIGsMB0GA1UdDgQWBBRfnYgNyHPmVNT4DdjmsMEktEfDVTB9BgNVHSMEdjB0gBRfnYgNyHPmVNT4DdjmsMEktEfD\
            VaFZpFcwVTELMAkGA1UEBhMCR0IxJDAiBgNVBAoTG0NlcnRpZmljYXRlIFRyYW5zcGFyZW5jeSBDQTEOMAwGA1UECBMFV2FsZXMxEDAO\
            BgNVBAcTB0VydyBXZW6CAQAwDAYDVR0TBAUwAwEB/zANBgkqhkiG9w0BAQUFAAOBgQAGCMxKbWTyIF4UbASydvkrDvqUpdryOvw4BmBt\
            OZDQoeojPUApV2lGOwRmYef6HReZFSCa6i4Kd1F2QRIn18ADB8dHDmFYT9czQiRyf1HWkLxHqd81TbD26yWVXeGJPE3VICskovPkQNJ0\
            tU4b03YmnKliibduyqQQkOFPOwqULg==
            """)

    static let embedded = Data(
        base64Encoded: """
            MIIDWTCCAsKgAwIBAgIBBzANBgkqhkiG9w0BAQUFADBVMQswCQYDVQQGEwJHQjEkMCIGA1UEChMbQ2VydGlmaWNhdGUgVHJhbnNwYXJl\
            bmN5IENBMQ4wDAYDVQQIEwVXYWxlczEQMA4GA1UEBxMHRXJ3IFdlbjAeFw0xMjA2MDEwMDAwMDBaFw0yMjA2MDEwMDAwMDBaMFIxCzAJ\
            BgNVBAYTAkdCMSEwHwYDVQQKExhDZXJ0aWZpY2F0ZSBUcmFuc3BhcmVuY3kxDjAMBgNVBAgTBVdhbGVzMRAwDgYDVQQHEwdFcncgV2Vu\
            MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC+75jnwmh3rjhfdTJaDB0ym+3xj6r015a/BH634c4VyVui+A7kWL19uG+KSyUhkaeb\
            1wDDjpwDibRc1NyaEgqyHgy0HNDnKAWkEM2cW9tdSSdyba8XEPYBhzd+olsaHjnu0LiBGdwVTcaPfajjDK8VijPmyVCfSgWwFAn/Xdh+\
            tQIDAQABo4IBOjCCATYwHQYDVR0OBBYEFCAxVBryXAX/2GWLaEN5T16QNve0MH0GA1UdIwR2MHSAFF+diA3Ic+ZU1PgN2OawwSS0R8NV\
            oVmkVzBVMQswCQYDVQQGEwJHQjEkMCIGA1UEChMbQ2VydGlmaWNhdGUgVHJhbnNwYXJlbmN5IENBMQ4wDAYDVQQIEwVXYWxlczEQMA4G\
            A1UEBxMHRXJ3IFdlboIBADAJBgNVHRMEAjAAMIGKBgorBgEEAdZ5AgQCBHwEegB4AHYA3xwuwRUAlFJHqWFoMl3cXHlZ6PfG04j8AC4L\
            vT9012QAAAE92yffkwAABAMARzBFAiBIL2dRrzXbplQ2vh/WZA89v5pBQpSVkkUwKI+j5eI+BgIhAOTtwNs6xXKx4vXoq2poBlOYfc9B\
            An3+/6EFUZ2J7b8IMA0GCSqGSIb3DQEBBQUAA4GBAIoMS+8JnUeSea+goo5on5HhxEIb4tJpoupspOghXd7dyhUEoR58h8S3foDw6XkD\
            UmjyfKIOFmgErlVvMWmB+Wo5Srer/T4lWsAERRP+dlcMZ5Wr5HAxM9MD+J86+mu8/FFzGd/ZW5NCQSEfY0A1w9B4MHpoxgdaLiDInza4\
            kQyg
            """)

    static let invalid = Data(
        base64Encoded: """
            MIIDWTCCAsKgAwIBAgIBBzANBgkqhkiG9w0BAQUFADBVMQswCQYDVQQGEwJHQjEkMCIGA1UEChMbQ2VydGlmaWNhdGUgVHJhbnNwYXJl\
            bmN5IENBMQ4wDAYDVQQIEwVXYWxlczEQMA4GA1UEBxMHRXJ3IFdlbjAeFw0xMjA2MDEwMDAwMDBaFw0yMjA2MDEwMDAwMDBaMFIxCzAJ\
            BgNVBAYTAkdCMSEwHwYDVQQKExhDZXJ0aWZpY2F0ZSBUcmFuc3BhcmVuY3kxDjAMBgNVBAgTBVdhbGVzMRAwDgYDVQQHEwdFcncgV2Vu\
            MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC+75jnwmh3rjhfdTJaDB0ym+3xj6r015a/BH634c4VyVui+A7kWL19uG+KSyUhkaeb\
            1wDDjpwDibRc1NyaEgqyHgy0HNDnKAWkEM2cW9tdSSdyba8XEPYBhzd+olsaHjnu0LiBGdwVTcaPfajjDK8VijPmyVCfSgWwFAn/Xdh+\
            tQIDAQABo4IBOjCCATYwHQYDVR0OBBYEFCAxVBryXAX/2GWLaEN5T16QNve0MH0GA1UdIwR2MHSAFF+diA3Ic+ZU1PgN2OawwSS0R8NV\
            oVmkVzBVMQswCQYDVQQGEwJHQjEkMCIGA1UEChMbQ2VydGlmaWNhdGUgVHJhbnNwYXJlbmN5IENBMQ4wDAYDVQQIEwVXYWxlczEQMA4G\
            A1UEBxMHRXJ3IFdlboIBADAJBgNVHRMEAjAAMIGKBgorBgEEAdZ5AgQCBHwEegB4AHYA3xwuwRUAlFJHqWFoMl3cXHlZ6PfG04j8AC4L\
            vT9012QAAAE92yfipAAABAMARzBFAiEAptNFF/M5LZ7F0let8cWX3EW9TNO3OFbGFqn7meWudagCIF4myNHH4iL+jNopuusEqDTul9NP\
            2BcY8argzWb0uKk/MA0GCSqGSIb3DQEBBQUAA4GBAK8oiQY4sBJv3WRd0GKA+BBs7ElM+CKGCinU8X5qpXxaWLKWzJDG2/EiEEt/SnbW\
            /d/yGkE6nueIfjKjx6IHPOavrgG0GqI9zpjzq17HXOdZ+nzMq0/6eqc+fZg4d8bQ8d7N3TdJAFm3kZCyf4WUK3zIsjy/kDBoXSFDxJWl\
            OW2f
            """)
}

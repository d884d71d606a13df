// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import CertificateTrust

/// The policies: the names and the purposes that a chain is valid for.
@Suite("Policies")
struct PolicyTests {
    private static let root = Issuer("root")
    private static let intermediate = Issuer("intermediate")
    private static let server = Issuer("example.com")

    private static func usages(_ identifiers: String..., critical: Bool = false) -> [UInt8] {
        CertificateTemplate.extension(
            "2.5.29.37", critical: critical, DERWriter.element(0x30, identifiers.flatMap(DERWriter.identifier)))
    }
    private static let forServers = usages("1.3.6.1.5.5.7.3.1")
    private static func names(_ names: [UInt8]...) -> [UInt8] {
        CertificateTemplate.extension("2.5.29.17", DERWriter.element(0x30, names.flatMap { $0 }))
    }
    private static func dns(_ name: String) -> [UInt8] { DERWriter.implicit(2, Array(name.utf8)) }

    /// The rule that the chain breaks, with the index of the certificate.
    private static func broken(
        _ policy: TrustPolicy, _ leaf: [[UInt8]], intermediate: [[UInt8]] = [], root: [[UInt8]] = [],
        change: (inout CertificateTemplate) -> Void = { _ in }
    ) throws -> String? {
        let issuing = [Issuer.authority, Issuer.signsCertificates]
        let verdict = ChainBuilder.chain(
            for: try server.leaf(by: Self.intermediate) {
                $0.extensions = leaf
                change(&$0)
            },
            intermediates: CertificatePool([
                try Self.intermediate.certificate(by: Self.root) { $0.extensions = issuing + intermediate }
            ]),
            anchors: CertificatePool([try Self.root.certificate(by: Self.root) { $0.extensions = issuing + root }]),
            policies: [policy], at: 1_780_000_000)
        return verdict.failure.map { "\($0.rule) \($0.index)" }
    }

    @Test(
        "A server name must match an alternative name of the leaf, where a wildcard is the whole first label",
        arguments: [
            ("example.com", "example.com", true), ("EXAMPLE.com", "example.COM", true),
            ("example.com", "example.com.", true),
            ("a.example.com", "example.com", false), ("example.com", "a.example.com", false),
            ("*.example.com", "a.example.com", true),
            ("*.example.com", "example.com", false), ("*.example.com", "a.b.example.com", false),
            ("*.example.com", "xn--bcher-kva.example.com", true),
            ("*.com", "example.com", false), ("*", "example", false), ("*.", "example.", false),
            ("a*.example.com", "ab.example.com", false),
            ("*a.example.com", "ba.example.com", false), ("a.*.com", "a.example.com", false),
            ("*.*.com", "a.b.com", false),
            ("**.example.com", "a.example.com", false), ("xn--*.example.com", "xn--a.example.com", false),
            ("example.com.", "example.com", false),
            (".example.com", "a.example.com", false), ("", "example.com", false),
            ("example.com\0", "example.com", false),
            ("example.com\0.evil.com", "example.com", false),
            ("192.0.2.1", "192.0.2.1", false), ("-a.example.com", "a.example.com", false),
            ("*.0.2.1", "192.0.2.1", false),
        ])
    func hosts(_ presented: String, _ asked: String, _ matches: Bool) throws {
        let policy = TrustPolicy.server(try ServerName(asked))
        let found = try Self.broken(
            policy, [Self.forServers, Self.names(Self.dns("other.example"), Self.dns(presented))])
        #expect(found == (matches ? nil : "serverName 0"))
    }

    @Test(
        "A server's certificate with an underscore in any host name is refused; other policies accept it"
    )
    func underscores() throws {
        let names = Self.names(Self.dns("example.com"), Self.dns("under_score.example.com"))
        let server = TrustPolicy.server(try ServerName("example.com"))
        #expect(try Self.broken(server, [Self.forServers, names]) == "hostNameForm 0")
        #expect(try Self.broken(.server(nil), [Self.forServers, names]) == "hostNameForm 0")
        #expect(try Self.broken(.client(nil), [names]) == nil)
        #expect(try Self.broken(.basicX509, [names]) == nil)
        let mail = Self.names(Self.dns("example.com"), DERWriter.implicit(1, Array("under_score@example.com".utf8)))
        #expect(try Self.broken(server, [Self.forServers, mail]) == nil)
        #expect(TrustRule.hostNameForm.isRecoverable)
    }

    @Test(
        "Critical extended key usages, and critical alternative names with a subject, are accepted"
    )
    func criticality() throws {
        let server = TrustPolicy.server(try ServerName("example.com"))
        let names = CertificateTemplate.extension(
            "2.5.29.17", critical: true, DERWriter.sequence(Self.dns("example.com")))
        let use = Self.usages("1.3.6.1.5.5.7.3.1", critical: true)
        #expect(try Self.broken(server, [use, Self.names(Self.dns("example.com"))]) == nil)
        #expect(try Self.broken(server, [Self.forServers, names]) == nil)
        #expect(try Self.broken(server, [use, names]) == nil)
    }

    @Test("An IP address matches only IP names, and a host only DNS names, never a common name")
    func kinds() throws {
        let address = TrustPolicy.server(try ServerName("192.0.2.1"))
        let address6 = TrustPolicy.server(try ServerName("[2001:db8::1]"))
        let host = TrustPolicy.server(try ServerName("example.com"))
        let ip = DERWriter.implicit(7, [192, 0, 2, 1])
        #expect(try Self.broken(address, [Self.forServers, Self.names(ip)]) == nil)
        #expect(try Self.broken(address, [Self.forServers, Self.names(Self.dns("192.0.2.1"))]) == "serverName 0")
        #expect(
            try Self.broken(address, [Self.forServers, Self.names(DERWriter.implicit(7, [192, 0, 2, 2]))])
                == "serverName 0")
        #expect(
            try Self.broken(address, [Self.forServers, Self.names(DERWriter.implicit(7, [192, 0, 2]))])
                == "serverName 0")
        let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 192, 0, 2, 1]
        #expect(
            try Self.broken(address, [Self.forServers, Self.names(DERWriter.implicit(7, mapped))]) == "serverName 0")
        let six = [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1]
        #expect(try Self.broken(address6, [Self.forServers, Self.names(DERWriter.implicit(7, six))]) == nil)
        // The common name of the subject is example.com.
        #expect(try Self.broken(host, [Self.forServers]) == "serverName 0")
        #expect(
            try Self.broken(
                host, [Self.forServers, Self.names(DERWriter.implicit(6, Array("https://example.com".utf8)))])
                == "serverName 0"
        )
        #expect(try Self.broken(.server(nil), [Self.forServers]) == nil)
    }

    @Test(
        "A text that is not a server name matches no certificate",
        arguments: [
            "", ".", "a..b", "-a.b", "a-.b", "bücher.example", "\u{212A}elvin.example", "a b", "*.example.com", "1.2.3",
            "256.256.256.256",
            "a/b", "a:80",
            "example.com\0",
        ])
    func asked(_ text: String) {
        #expect(throws: CertificateError.self) { try ServerName(text) }
    }

    @Test("A server's certificate must not be a CA's, be valid for at most 825 days, and have a key usage of TLS")
    func servers() throws {
        let policy = TrustPolicy.server(nil)
        #expect(try Self.broken(policy, [Self.forServers, Issuer.authority]) == "endEntity 0")
        #expect(try Self.broken(.basicX509, [Issuer.authority]) == nil)
        for (first, last, expected) in [
            ("20250101000000Z", "20270406000000Z", nil), ("20250101000000Z", "20270406000001Z", "validityPeriod 0"),
            ("20190630235959Z", "20450101000000Z", nil), ("20190701000000Z", "20450101000000Z", "validityPeriod 0"),
        ] {
            let found = try Self.broken(policy, [Self.forServers]) {
                ($0.notBefore, $0.notAfter) = (CertificateTemplate.time(first), CertificateTemplate.time(last))
            }
            #expect(found == expected, "\(first) \(last)")
        }
        func usage(_ bits: UInt8) -> [UInt8] { CertificateTemplate.extension("2.5.29.15", DERWriter.bits([bits])) }
        for (bits, server, client, mail, code) in [
            (0x80, true, true, true, true), (0x40, false, false, true, true), (0x20, true, false, true, false),
            (0x10, false, false, true, false), (0x08, true, true, true, false),
        ] as [(UInt8, Bool, Bool, Bool, Bool)] {
            let code1 = Self.usages("1.3.6.1.5.5.7.3.3")
            #expect(try Self.broken(policy, [Self.forServers, usage(bits)]) == (server ? nil : "keyUsage 0"))
            #expect(try Self.broken(.client(nil), [usage(bits)]) == (client ? nil : "keyUsage 0"))
            #expect(try Self.broken(.mail(address: nil), [usage(bits)]) == (mail ? nil : "keyUsage 0"))
            #expect(try Self.broken(.codeSigning, [code1, usage(bits)]) == (code ? nil : "keyUsage 0"))
        }
    }

    @Test(
        "Email needs the address in alternative names or subject; signers of code and times need their usage"
    )
    func others() throws {
        let address = TrustPolicy.mail(address: "A@example.com")
        let name = Self.names(DERWriter.implicit(1, Array("a@EXAMPLE.com".utf8)))
        #expect(try Self.broken(address, [name]) == nil)
        #expect(
            try Self.broken(address, [Self.names(DERWriter.implicit(1, Array("b@example.com".utf8)))])
                == "mailAddress 0")
        #expect(try Self.broken(address, []) == "mailAddress 0")
        #expect(try Self.broken(.mail(address: nil), []) == nil)
        let subject = DERWriter.sequence(
            DERWriter.set(
                DERWriter.sequence(
                    DERWriter.identifier("1.2.840.113549.1.9.1"), DERWriter.element(0x16, Array("a@example.com".utf8))))
        )
        #expect(try Self.broken(address, [Self.forServers]) { $0.subject = subject } == "extendedKeyUsage 0")
        #expect(try Self.broken(address, [Self.usages("1.3.6.1.5.5.7.3.4")]) { $0.subject = subject } == nil)
        for (policy, usage) in [(TrustPolicy.codeSigning, "1.3.6.1.5.5.7.3.3"), (.timeStamping, "1.3.6.1.5.5.7.3.8")] {
            #expect(try Self.broken(policy, [Self.usages(usage, critical: true)]) == nil)
            let several = Self.usages(usage, "1.3.6.1.5.5.7.3.1", critical: true)
            #expect(try Self.broken(policy, [several]) == (policy == .timeStamping ? "extendedKeyUsage 0" : nil))
            #expect(
                try Self.broken(policy, [Self.usages(usage)]) == (policy == .timeStamping ? "extendedKeyUsage 0" : nil))
            #expect(try Self.broken(policy, []) == "extendedKeyUsage 0")
            #expect(try Self.broken(policy, [Self.usages("2.5.29.37.0")]) == "extendedKeyUsage 0")
        }
        let host = TrustPolicy.client(try ServerName("example.com"))
        #expect(try Self.broken(host, [Self.names(Self.dns("example.com"))]) == nil)
        #expect(try Self.broken(host, [Self.names(Self.dns("example.org"))]) == "serverName 0")
    }

    @Test("The leaf must name the extended key usage, and no certificate above may be restricted to others")
    func usages() throws {
        let (client, any) = (Self.usages("1.3.6.1.5.5.7.3.2"), Self.usages("2.5.29.37.0"))
        let policy = TrustPolicy.server(nil)
        #expect(try Self.broken(policy, [Self.forServers]) == nil)
        #expect(try Self.broken(policy, [Self.usages("1.3.6.1.5.5.7.3.2", "1.3.6.1.5.5.7.3.1", critical: true)]) == nil)
        #expect(try Self.broken(policy, []) == "extendedKeyUsage 0")
        #expect(try Self.broken(policy, [client]) == "extendedKeyUsage 0")
        #expect(try Self.broken(policy, [any]) == "extendedKeyUsage 0")
        #expect(try Self.broken(.client(nil), [client]) == nil)
        #expect(try Self.broken(.client(nil), [Self.forServers]) == "extendedKeyUsage 0")
        #expect(try Self.broken(policy, [Self.forServers], intermediate: [client]) == "extendedKeyUsage 1")
        #expect(try Self.broken(policy, [Self.forServers], intermediate: [any]) == nil)
        #expect(
            try Self.broken(policy, [Self.forServers], intermediate: [Self.forServers], root: [client])
                == "extendedKeyUsage 2")
        #expect(try Self.broken(.basicX509, []) == nil)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeychainTesting
import Testing

@testable import CertificateTrust

/// Compares results for the same chains with `openssl verify -x509_strict`, including the known
/// differences.
@Suite("Comparison with openssl verify")
struct OpenSSLComparisonTests {
    typealias Change = @Sendable (inout CertificateTemplate) -> Void

    /// A chain of three with changes, and the expected result of each implementation.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The rule that Latchkey finds broken; nil if it accepts the chain.
        let ours: TrustRule?
        /// Whether openssl accepts it.
        let theirs: Bool
        let leaf: Change
        let intermediate: Change
        let root: Change

        init(
            _ description: String, ours: TrustRule?, theirs: Bool, leaf: @escaping Change = { _ in },
            intermediate: @escaping Change = { _ in }, root: @escaping Change = { _ in }
        ) {
            testDescription = description
            self.ours = ours
            self.theirs = theirs
            self.leaf = leaf
            self.intermediate = intermediate
            self.root = root
        }
    }

    private static let validationTime = 1_780_000_000
    private static let root = Issuer("root")
    private static let intermediate = Issuer("intermediate")
    private static let server = Issuer("example.com")

    private static func added(_ identifier: String, critical: Bool = false, _ value: [UInt8]) -> Change {
        { $0.extensions? += [CertificateTemplate.extension(identifier, critical: critical, value)] }
    }
    private static func without(_ identifier: String) -> Change {
        let oid = DERWriter.identifier(identifier)
        return { $0.extensions?.removeAll { $0.dropFirst(2).starts(with: oid) } }
    }
    private static func replacing(_ identifier: String, critical: Bool = false, _ value: [UInt8]) -> Change {
        {
            without(identifier)(&$0)
            added(identifier, critical: critical, value)(&$0)
        }
    }
    private static func names(_ names: [UInt8]...) -> [UInt8] { DERWriter.element(0x30, names.flatMap { $0 }) }
    private static func dns(_ name: String) -> [UInt8] { DERWriter.implicit(2, Array(name.utf8)) }
    private static func usages(_ identifiers: String...) -> [UInt8] {
        DERWriter.element(0x30, identifiers.flatMap(DERWriter.identifier))
    }
    private static func constraints(permitted: [[UInt8]] = [], excluded: [[UInt8]] = []) -> [UInt8] {
        func part(_ tag: UInt8, _ names: [[UInt8]]) -> [UInt8] {
            names.isEmpty ? [] : DERWriter.explicit(tag, names.flatMap { DERWriter.sequence($0) })
        }
        return DERWriter.sequence(part(0, permitted), part(1, excluded))
    }
    private static let unknown = added("1.2.3.4", critical: true, [0x05, 0x00])
    private static let (san, bc, ku, eku, nc) = ("2.5.29.17", "2.5.29.19", "2.5.29.15", "2.5.29.37", "2.5.29.30")

    // MARK: Agreement

    static let agreed: [Row] = [
        Row("a plain chain", ours: nil, theirs: true),
        Row(
            "expired leaf", ours: .expired, theirs: false,
            leaf: { $0.notAfter = CertificateTemplate.time("20260101000000Z") }),
        Row(
            "expired intermediate", ours: .expired, theirs: false,
            intermediate: { $0.notAfter = CertificateTemplate.time("20260101000000Z") }),
        Row(
            "expired root", ours: .expired, theirs: false,
            root: { $0.notAfter = CertificateTemplate.time("20260101000000Z") }),
        Row(
            "leaf of tomorrow", ours: .notYetValid, theirs: false,
            leaf: { $0.notBefore = CertificateTemplate.time("20270101000000Z") }),
        Row("intermediate without basic constraints", ours: .authority, theirs: false, intermediate: without(bc)),
        Row(
            "intermediate that is no authority", ours: .authority, theirs: false,
            intermediate: replacing(bc, critical: true, DERWriter.sequence())),
        Row(
            "intermediate of version 1", ours: .authority, theirs: false,
            intermediate: { ($0.version, $0.extensions) = (nil, nil) }),
        Row(
            "intermediate whose basic constraints are not critical", ours: .authority, theirs: false,
            intermediate: replacing(bc, DERWriter.sequence(DERWriter.boolean(true)))),
        Row(
            "intermediate that may not sign certificates", ours: .signingUsage, theirs: false,
            intermediate: replacing(ku, critical: true, DERWriter.bits([0x80], unused: 7))),
        Row(
            "path length 0 above an intermediate", ours: .pathLength, theirs: false,
            root: replacing(bc, critical: true, DERWriter.sequence(DERWriter.boolean(true), DERWriter.integer(0)))),
        Row(
            "path length 0 above the leaf", ours: nil, theirs: true,
            intermediate: replacing(
                bc, critical: true, DERWriter.sequence(DERWriter.boolean(true), DERWriter.integer(0)))),
        Row("unknown critical extension on the leaf", ours: .unknownCriticalExtension, theirs: false, leaf: unknown),
        Row(
            "unknown critical extension on the intermediate", ours: .unknownCriticalExtension, theirs: false,
            intermediate: unknown),
        Row("unknown extension on the leaf", ours: nil, theirs: true, leaf: added("1.2.3.4", [0x05, 0x00])),
        Row(
            "leaf for clients alone", ours: .extendedKeyUsage, theirs: false,
            leaf: replacing(eku, usages("1.3.6.1.5.5.7.3.2"))),
        Row(
            "intermediate for clients alone", ours: .extendedKeyUsage, theirs: false,
            intermediate: added(eku, usages("1.3.6.1.5.5.7.3.2"))),
        Row("intermediate for servers", ours: nil, theirs: true, intermediate: added(eku, usages("1.3.6.1.5.5.7.3.1"))),
        Row("a leaf for any use", ours: .extendedKeyUsage, theirs: false, leaf: replacing(eku, usages("2.5.29.37.0"))),
        Row("leaf for another host", ours: .serverName, theirs: false, leaf: replacing(san, names(dns("example.org")))),
        Row(
            "leaf with a wildcard for the host's domain", ours: .serverName, theirs: false,
            leaf: replacing(san, names(dns("*.example.com")))),
        Row(
            "leaf that names several hosts", ours: nil, theirs: true,
            leaf: replacing(san, names(dns("a.example"), dns("example.com")))),
        Row(
            "names permitted", ours: nil, theirs: true,
            intermediate: added(nc, critical: true, constraints(permitted: [dns("example.com")]))),
        Row(
            "names not permitted", ours: .nameConstraints, theirs: false,
            intermediate: added(nc, critical: true, constraints(permitted: [dns("example.org")]))),
        Row(
            "names excluded", ours: .nameConstraints, theirs: false,
            root: added(nc, critical: true, constraints(excluded: [dns("example.com")]))),
        Row(
            "names excluded elsewhere", ours: nil, theirs: true,
            root: added(nc, critical: true, constraints(excluded: [dns("example.org")]))),
        Row("no authority key identifier", ours: .keyIdentifier, theirs: false, leaf: { $0.keyIdentifiers = [] }),
        Row(
            "no subject key identifier on the intermediate", ours: .keyIdentifier, theirs: false,
            intermediate: { $0.keyIdentifiers = [Issuer.identifier(ofIssuer: Self.root.key)] }),
        Row(
            "the key identifier of another key", ours: .keyIdentifier, theirs: false,
            leaf: { $0.keyIdentifiers = [Issuer.identifier(ofIssuer: Self.root.key)] }),
        Row(
            "changed signature algorithm inside", ours: .form, theirs: false,
            leaf: { $0.innerAlgorithm = DERWriter.sequence(DERWriter.identifier("1.2.840.10045.4.3.3")) }),
        Row("extensions in version 1", ours: .form, theirs: false, leaf: { $0.version = nil }),
        Row(
            "critical key identifier", ours: .form, theirs: false,
            leaf: {
                $0.keyIdentifiers = [
                    CertificateTemplate.extension("2.5.29.14", critical: true, DERWriter.octets([1, 2, 3])),
                    Issuer.identifier(ofIssuer: Self.intermediate.key),
                ]
            }),
        Row(
            "critical authority key identifier on the root", ours: .form, theirs: false,
            root: {
                let key = DERWriter.sequence(DERWriter.implicit(0, Array(Issuer.identifier(Self.root.key).suffix(20))))
                $0.keyIdentifiers = [
                    Issuer.identifier(Self.root.key), CertificateTemplate.extension("2.5.29.35", critical: true, key),
                ]
            }),
        Row(
            "a leaf that may sign certificates and is no authority", ours: .signingUsage, theirs: false,
            leaf: added(ku, critical: true, DERWriter.bits([0x86], unused: 1))),
        Row(
            "no issuer's name", ours: .emptyName, theirs: false,
            intermediate: { $0.issuer = CertificateTemplate.name("") },
            root: { ($0.subject, $0.issuer) = (CertificateTemplate.name(""), CertificateTemplate.name("")) }),
        Row(
            "a root of another name", ours: .untrusted, theirs: false,
            root: { $0.subject = CertificateTemplate.name("other") }),
        Row(
            "policies that are required and there", ours: nil, theirs: true,
            leaf: added("2.5.29.32", DERWriter.sequence(DERWriter.sequence(DERWriter.identifier("1.2.3.4")))),
            intermediate: {
                added("2.5.29.32", DERWriter.sequence(DERWriter.sequence(DERWriter.identifier("1.2.3.4"))))(&$0)
                added("2.5.29.36", critical: true, DERWriter.sequence(DERWriter.implicit(0, [0])))(&$0)
            }),
        Row(
            "policies that are required and not there", ours: .certificatePolicy, theirs: false,
            leaf: added("2.5.29.32", DERWriter.sequence(DERWriter.sequence(DERWriter.identifier("1.2.3.5")))),
            intermediate: {
                added("2.5.29.32", DERWriter.sequence(DERWriter.sequence(DERWriter.identifier("1.2.3.4"))))(&$0)
                added("2.5.29.36", critical: true, DERWriter.sequence(DERWriter.implicit(0, [0])))(&$0)
            }),
        Row(
            "a policy that is required two certificates on", ours: .certificatePolicy, theirs: false,
            intermediate: added("2.5.29.36", critical: true, DERWriter.sequence(DERWriter.implicit(0, [1])))),
    ]

    // MARK: Known differences

    /// The reasons are in Documentation/Compatibility.md.
    static let different: [Row] = [
        // Latchkey is stricter.
        Row("a leaf without extended key usage", ours: .extendedKeyUsage, theirs: true, leaf: without(eku)),
        Row("a common name and no alternative names", ours: .serverName, theirs: true, leaf: without(san)),
        Row(
            "a leaf that is a CA", ours: .endEntity, theirs: true,
            leaf: {
                added(bc, critical: true, DERWriter.sequence(DERWriter.boolean(true)))(&$0)
                added(ku, critical: true, DERWriter.bits([0x84], unused: 2))(&$0)
            }),
        Row(
            "a leaf of more than 825 days", ours: .validityPeriod, theirs: true,
            leaf: { $0.notAfter = CertificateTemplate.time("20300101000000Z") }),
        Row(
            "a serial number of 0", ours: .serialNumber, theirs: true, leaf: { $0.serialNumber = DERWriter.integer(0) }),
        Row(
            "a serial number below 0", ours: .serialNumber, theirs: true,
            leaf: { $0.serialNumber = DERWriter.integer(-5) }),
        Row(
            "a leaf with an underscore in a host name", ours: .hostNameForm, theirs: true,
            leaf: replacing(san, names(dns("example.com"), dns("a_b.example.com")))),
        Row(
            "a wildcard with an excluded name", ours: .nameConstraints, theirs: true,
            leaf: replacing(san, names(dns("example.com"), dns("*.example.com"))),
            root: added(nc, critical: true, constraints(excluded: [dns("a.example.com")]))),
        Row(
            "an extension twice", ours: .form, theirs: true,
            leaf: {
                added("1.2.3.4", [0x05, 0x00])(&$0)
                added("1.2.3.4", [0x05, 0x00])(&$0)
            }),
        // Latchkey is more lenient with anchors, because several anchors of the web are like this.
        Row(
            "a root whose basic constraints are not critical", ours: nil, theirs: false,
            root: replacing(bc, DERWriter.sequence(DERWriter.boolean(true)))),
        Row("a root without a key identifier", ours: nil, theirs: false, root: { $0.keyIdentifiers = [] }),
        Row("a root of version 1", ours: nil, theirs: false, root: { ($0.version, $0.extensions) = (nil, nil) }),
    ]

    private static func pem(_ der: [UInt8]) -> Data {
        let base64 = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return Data("-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n".utf8)
    }

    @Test("Latchkey and openssl verify agree", arguments: agreed)
    func agreement(_ row: Row) throws {
        #expect((row.ours == nil) == row.theirs)
        try compare(row)
    }

    @Test("Latchkey and openssl verify differ as documented", arguments: different)
    func difference(_ row: Row) throws {
        #expect((row.ours == nil) != row.theirs)
        try compare(row)
    }

    private func compare(_ row: Row) throws {
        let openssl = try OpenSSL()
        let leaf = try Self.server.leaf(by: Self.intermediate) {
            $0.extensions = [
                CertificateTemplate.extension(Self.san, Self.names(Self.dns("example.com"))),
                CertificateTemplate.extension(Self.eku, Self.usages("1.3.6.1.5.5.7.3.1")),
            ]
            row.leaf(&$0)
        }
        let intermediate = try Self.intermediate.certificate(by: Self.root, row.intermediate)
        let root = try Self.root.certificate(by: Self.root, row.root)
        let verdict = ChainBuilder.chain(
            for: leaf, intermediates: CertificatePool([intermediate]), anchors: CertificatePool([root]),
            policies: [.server(try ServerName("example.com"))], at: Double(Self.validationTime))
        #expect(verdict.failure?.rule == row.ours, "\(verdict.failure?.explanation ?? "accepted")")
        let outcome = try openssl.run([
            "verify", "-x509_strict", "-policy_check", "-policy", "anyPolicy", "-purpose", "sslserver",
            "-verify_hostname", "example.com",
            "-attime",
            "\(Self.validationTime)",
            "-no-CApath", "-no-CAstore", "-CAfile", try openssl.file(Self.pem(root.der)),
            "-untrusted", try openssl.file(Self.pem(intermediate.der)), try openssl.file(Self.pem(leaf.der)),
        ])
        #expect((outcome.status == 0) == row.theirs, "\(outcome.error)")
    }
}

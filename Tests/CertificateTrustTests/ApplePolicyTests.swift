// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import CertificateTrust

/// Apple's own policies, EAP and IPsec: the requirements of each on a chain, and the chains that it refuses.
@Suite("Apple's policies")
struct ApplePolicyTests {
    private static let root = Issuer("root")
    private static let intermediate = Issuer("intermediate")
    private static let server = Issuer("example.com")
    private static let validationTime = 1_780_000_000.0

    private static func marker(_ arcs: String, _ value: [UInt8] = [0x05, 0x00]) -> [UInt8] {
        CertificateTemplate.extension("1.2.840.113635.100.\(arcs)", value)
    }
    private static func usages(_ identifiers: String...) -> [UInt8] {
        CertificateTemplate.extension("2.5.29.37", DERWriter.element(0x30, identifiers.flatMap(DERWriter.identifier)))
    }
    private static func policies(_ identifier: String) -> [UInt8] {
        CertificateTemplate.extension(
            "2.5.29.32", DERWriter.sequence(DERWriter.sequence(DERWriter.identifier(identifier))))
    }
    private static func names(_ hosts: String...) -> [UInt8] {
        CertificateTemplate.extension(
            "2.5.29.17", DERWriter.element(0x30, hosts.flatMap { DERWriter.implicit(2, Array($0.utf8)) }))
    }
    private static func subject(units: String...) -> [UInt8] {
        let attributes = units.map {
            DERWriter.set(DERWriter.sequence(DERWriter.identifier("2.5.4.11"), DERWriter.utf8($0)))
        }
        let name = DERWriter.set(DERWriter.sequence(DERWriter.identifier("2.5.4.3"), DERWriter.utf8("signer")))
        return DERWriter.element(0x30, (attributes + [name]).flatMap { $0 })
    }

    /// The rules that a chain of three breaks, each with the index of the certificate. With
    /// `isShort`, the chain has no intermediate.
    private static func broken(
        _ profile: AppleProfile? = nil, _ policies: [TrustPolicy] = [], leaf: [[UInt8]], intermediate: [[UInt8]] = [],
        subject: [UInt8]? = nil, isShort: Bool = false
    ) throws -> [String] {
        let anchor = try root.certificate(by: root)
        let chain = ChainBuilder.chain(
            for: try server.leaf(by: isShort ? root : Self.intermediate) {
                $0.extensions = leaf
                if let subject { $0.subject = subject }
            },
            intermediates: CertificatePool([
                try Self.intermediate.certificate(by: root) {
                    $0.extensions = [Issuer.authority, Issuer.signsCertificates] + intermediate
                }
            ]), anchors: CertificatePool([anchor]), policies: policies,
            also: profile?.anchored(in: [anchor.sha256]).rules ?? [], at: validationTime)
        return chain.best?.failures.map { "\($0.rule) \($0.index)" } ?? []
    }

    private static let worldwide = marker("6.2.1")
    private static let receipt = [marker("6.11.1"), policies("1.2.840.113635.100.5.6.1")]

    @Test(
        "A receipt signer needs its marker and policy in a chain of three with Apple's intermediate and root"
    )
    func receipts() throws {
        let profile = AppleProfile.macAppStoreReceipt
        #expect(try Self.broken(profile, leaf: Self.receipt, intermediate: [Self.worldwide]) == [])
        #expect(
            try Self.broken(profile, leaf: [Self.receipt[1]], intermediate: [Self.worldwide]) == ["requiredExtension 0"]
        )
        #expect(
            try Self.broken(profile, leaf: [Self.receipt[0]], intermediate: [Self.worldwide]) == ["certificatePolicy 0"]
        )
        #expect(try Self.broken(profile, leaf: Self.receipt) == ["requiredExtension 1"])
        #expect(
            try Self.broken(profile, leaf: Self.receipt, intermediate: [Self.marker("6.2.3")]) == [
                "requiredExtension 1"
            ])
        #expect(try Self.broken(profile, leaf: Self.receipt, isShort: true) == ["pathLength 0"])
        // Each marker must be on the right certificate.
        let swapped = try Self.broken(
            profile, leaf: [Self.worldwide, Self.receipt[1]], intermediate: [Self.receipt[0]])
        #expect(swapped == ["requiredExtension 0", "requiredExtension 1"])
        // The root is not Apple's.
        let elsewhere = try Self.broken(nil, [.macAppStoreReceipt], leaf: Self.receipt, intermediate: [Self.worldwide])
        #expect(elsewhere == ["requiredAnchor 2"])
        #expect(
            !TrustRule.requiredAnchor.isRecoverable && !TrustRule.requiredExtension.isRecoverable
                && !TrustRule.requiredName.isRecoverable)
        #expect(TrustPolicy.macAppStoreReceipt.revocationOptions == [.ocsp, .lists])
    }

    @Test("The certificate of an Apple ID needs its marker and one of two intermediates")
    func appleIDs() throws {
        let profile = AppleProfile.appleID
        for intermediate in ["6.2.3", "6.2.7"] {
            #expect(
                try Self.broken(profile, leaf: [Self.marker("4.7")], intermediate: [Self.marker(intermediate)]) == [])
        }
        #expect(try Self.broken(profile, leaf: [], intermediate: [Self.marker("6.2.3")]) == ["requiredExtension 0"])
        #expect(
            try Self.broken(profile, leaf: [Self.marker("4.7")], intermediate: [Self.worldwide]) == [
                "requiredExtension 1"
            ])
        let elsewhere = try Self.broken(
            nil, [.appleID], leaf: [Self.marker("4.7")], intermediate: [Self.marker("6.2.3")])
        #expect(elsewhere == ["requiredAnchor 2"])
    }

    @Test("A pass signer needs the marker of its type, the usage, and the team as its only organizational unit")
    func passes() throws {
        let type = DERWriter.utf8("pass.com.example")
        let leaf = [Self.marker("6.1.16", type), Self.usages("1.2.840.113635.100.4.14")]
        func broken(
            _ profile: AppleProfile, _ leaf: [[UInt8]], _ units: [UInt8] = Self.subject(units: "TEAM")
        ) throws -> [String] {
            try Self.broken(profile, leaf: leaf, intermediate: [Self.worldwide], subject: units)
        }
        let profile = AppleProfile.pass(type: "pass.com.example", team: "TEAM")
        #expect(try broken(profile, leaf) == [])
        #expect(try broken(.pass(type: nil, team: "TEAM"), leaf) == [])
        #expect(try broken(.pass(type: "pass.com.other", team: "TEAM"), leaf) == ["requiredExtension 0"])
        #expect(try broken(.pass(type: "pass.com.example", team: "OTHER"), leaf) == ["requiredName 0"])
        #expect(try broken(profile, leaf, Self.subject(units: "TEAM", "OTHER")) == ["requiredName 0"])
        #expect(try broken(profile, leaf, Self.subject()) == ["requiredName 0"])
        #expect(try broken(profile, [leaf[0]]) == ["extendedKeyUsage 0"])
        #expect(try broken(profile, [leaf[0], Self.usages("1.3.6.1.5.5.7.3.3")]) == ["extendedKeyUsage 0"])
        #expect(try broken(profile, [Self.marker("6.1.16"), leaf[1]]) == ["requiredExtension 0"])
        #expect(try broken(profile, [Self.marker("6.1.16", [0xFF]), leaf[1]]) == ["requiredExtension 0"])
    }

    @Test("The profiles have Apple's three roots; the check of a single leaf does not require them")
    func leaves() throws {
        #expect(AppleProfile.macAppStoreReceipt.anchors.count == 3)
        #expect(AppleProfile.macAppStoreReceipt.anchors.allSatisfy { $0.count == 32 })
        let leaf = try Self.server.leaf(by: Self.intermediate) { $0.extensions = Self.receipt }
        #expect(TrustPolicy.macAppStoreReceipt.failure(ofLeaf: leaf, at: Self.validationTime) == nil)
        let other = try Self.server.leaf(by: Self.intermediate)
        #expect(
            TrustPolicy.macAppStoreReceipt.failure(ofLeaf: other, at: Self.validationTime)?.rule == .requiredExtension)
    }

    // MARK: EAP and IPsec

    @Test(
        "An EAP server matches a trusted name, or a trusted wildcard for one label",
        arguments: [
            (["radius.example.com"], ["radius.example.com"], true),
            (["RADIUS.example.com"], ["radius.EXAMPLE.com"], true),
            (["other.example", "radius.example.com"], ["radius.example.com"], true),
            (["radius.example.com"], ["other.example", "radius.example.com"], true),
            (["*.example.com"], ["radius.example.com"], true), (["*.example.com"], ["a.radius.example.com"], false),
            (["*.example.com"], ["example.com"], false), (["*.com"], ["example.com"], false),
            (["*"], ["example"], false),
            (["radius.example.com"], ["*.example.com"], true), (["*.example.com"], ["*.example.com"], false),
            (["radius.example.com"], ["radius.example.org"], false), (["radius.example.com"], [], false),
            ([], ["radius.example.com"], false),
            (["not a host"], ["not a host"], false), ([""], [""], false),
        ] as [([String], [String], Bool)])
    func eapNames(_ trusted: [String], _ presented: [String], _ matches: Bool) throws {
        let names =
            presented.isEmpty
            ? [] : [DERWriter.element(0x30, presented.flatMap { DERWriter.implicit(2, Array($0.utf8)) })]
        let leaf = names.map { CertificateTemplate.extension("2.5.29.17", $0) }
        let policy = TrustPolicy.eapServer(trusted.map { TrustedServerName($0) })
        #expect(try Self.broken(nil, [policy], leaf: leaf) == (matches ? [] : ["serverName 0"]))
    }

    @Test("EAP accepts a leaf without or with its own usage, IPsec one of any usage; neither accepts a CA")
    func eapAndIPsec() throws {
        let (server, client) = (Self.usages("1.3.6.1.5.5.7.3.1"), Self.usages("1.3.6.1.5.5.7.3.2"))
        for (policy, leaf, expected) in [
            (.eapServer(nil), [], []), (.eapServer(nil), [server], []),
            (.eapServer(nil), [client], ["extendedKeyUsage 0"]),
            (.eapServer(nil), [Self.usages("2.5.29.37.0")], []), (.eapServer(nil), [Issuer.authority], ["endEntity 0"]),
            (.eapClient(nil), [], []), (.eapClient(nil), [client], []),
            (.eapClient(nil), [server], ["extendedKeyUsage 0"]),
            (.ipsec(isServer: true, nil), [client], []), (.ipsec(isServer: false, nil), [], []),
            (.ipsec(isServer: true, nil), [Issuer.authority], ["endEntity 0"]),
            (.ipsec(isServer: true, ServerName(requested: "gate.example.com")), [Self.names("gate.example.com")], []),
            (
                .ipsec(isServer: true, ServerName(requested: "gate.example.com")), [Self.names("example.com")],
                ["serverName 0"]
            ),
            (.ipsec(isServer: true, ServerName(requested: "gate.example.com")), [], ["serverName 0"]),
        ] as [(TrustPolicy, [[UInt8]], [String])] {
            #expect(try Self.broken(nil, [policy], leaf: leaf) == expected, "\(policy)")
        }
    }

    @Test("Required key usages replace the policy's own, and the leaf must have one of them")
    func keyUsages() throws {
        func usage(_ bits: UInt8) -> [UInt8] { CertificateTemplate.extension("2.5.29.15", DERWriter.bits([bits])) }
        let encrypting = TrustPolicy.keyUsages([.keyEncipherment, .dataEncipherment], of: .codeSigning)
        let code = Self.usages("1.3.6.1.5.5.7.3.3")
        for (bits, expected) in [(0x20, []), (0x10, []), (0xB0, []), (0x80, ["keyUsage 0"]), (0x08, ["keyUsage 0"])]
            as [(UInt8, [String])]
        {
            #expect(try Self.broken(nil, [encrypting], leaf: [code, usage(bits)]) == expected)
        }
        #expect(try Self.broken(nil, [encrypting], leaf: [code]) == ["keyUsage 0"])
        // The policy's other requirements remain.
        #expect(try Self.broken(nil, [encrypting], leaf: [usage(0x20)]) == ["extendedKeyUsage 0"])
        #expect(try Self.broken(nil, [.keyUsages([.keyEncipherment], of: .basicX509)], leaf: []) == ["keyUsage 0"])
        let revocation = RevocationOptions.ocsp
        #expect(TrustPolicy.keyUsages([.crlSign], of: .revocation(revocation)).revocationOptions == revocation)
    }
}

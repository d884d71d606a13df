// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import LinuxSystem
import Testing

@testable import TransportPolicy

/// Decisions before a connection: schemes, hosts, redirects, and pins of both sources.
@Suite("Decisions on connections")
struct ConnectionPolicyTests {
    private static let arbitrary = AppTransportSecurity.reading(["NSAllowsArbitraryLoads": true]).settings

    private static func pins(
        _ domain: String, _ number: UInt8, expiration: PinSet.Expiration? = nil,
        enforcement: PinSet.Enforcement = .enforced
    ) throws -> PinSet {
        try PinSet(
            DomainRule(DomainName(domain), subdomains: .anyLevel),
            [PinRequirement(.leaf, [.other(number), .other(number + 1)])], expiration: expiration,
            enforcement: enforcement)
    }

    @Test(
        "ATS-13: only HTTP, HTTPS and WebSockets have a decision",
        arguments: ["ftp", "file", "data", "", "httpx", "https ", "ldaps"])
    func schemes(_ scheme: String) {
        let decision = ConnectionPolicy(Self.arbitrary).decision(scheme: scheme, host: "example.com", at: validTime)
        #expect(decision.code == -1002)
    }

    @Test(
        "ATS-13: a host that is neither a name nor an address is refused",
        arguments: [
            "", " ", "example..com", "exa mple.com", "b\u{FC}cher.example", "0x7f000001", "1.2.3.0x4", "127.1",
            "2130706433", "[::1", "::1::", "example.com:443", "user@example.com", "a/b", "example.com\0.org",
            String(repeating: "a.", count: 200),
        ])
    func hosts(_ host: String) {
        for scheme in ["http", "https"] {
            let decision = ConnectionPolicy(Self.arbitrary).decision(scheme: scheme, host: host, at: validTime)
            #expect(decision.code == -1000, "\(scheme)")
        }
    }

    @Test("ATS-14: addresses in any of their writings have the exceptions of their range")
    func addresses() throws {
        let settings = AppTransportSecurity.reading([
            "NSExceptionDomains": [
                "10.0.0.0/8": ["NSExceptionAllowsInsecureHTTPLoads": true], "10.1.0.0/16": [:],
                "2001:db8::/33": ["NSExceptionAllowsInsecureHTTPLoads": true],
                "::ffff:172.16.0.0/112": ["NSExceptionAllowsInsecureHTTPLoads": true],
                "0.0.0.0/0": ["NSExceptionMinimumTLSVersion": "TLSv1.3"],
            ]
        ])
        #expect(settings.findings.isEmpty)
        let policy = ConnectionPolicy(settings.settings)
        let expected = [
            "10.2.0.1": true, "10.1.255.1": false, "11.0.0.1": false, "2001:DB8::1": true, "[2001:db8:7fff::]": true,
            "2001:db8:8000::1": false, "[2001:db9::]": false, "::ffff:10.2.0.1": true,
            "[::ffff:10.1.2.3]": false, "::ffff:192.0.2.1": false, "::10.2.0.1": false, "172.16.0.9": true,
        ]
        for (host, isAllowed) in expected {
            #expect((policy.decision(scheme: "http", host: host, at: validTime) == .plain) == isAllowed, "\(host)")
        }
        let requirements = policy.decision(scheme: "https", host: "192.0.2.1", at: validTime).requirements
        #expect(requirements?.minimumVersion == .tls13)
    }

    @Test("ATS-15: a redirect from https to http is refused even where http is allowed")
    func redirects() {
        let policy = ConnectionPolicy(Self.arbitrary)
        func decision(_ origin: String, _ scheme: String) -> TransportDecision {
            policy.decision(redirectedFrom: origin, scheme: scheme, host: "example.com", at: validTime)
        }
        for (origin, scheme) in [("https", "http"), ("HTTPS", "ws"), ("wss", "http"), ("unknown", "http")] {
            guard case .refused(let refusal) = decision(origin, scheme) else {
                Issue.record("\(origin) to \(scheme) was allowed")
                continue
            }
            #expect(refusal.reason == .insecureRedirect && refusal.code.rawValue == -1022)
        }
        #expect(decision("http", "http") == .plain)
        #expect(decision("http", "https").requirements != nil && decision("https", "https").requirements != nil)
        #expect(decision("https", "ftp").code == -1002)
    }

    @Test("PIN-16: http to a host with pins is refused where it would be allowed, while the pins are enforced")
    func plainPins() throws {
        let open = PinSet.Expiration(at: validTime, afterwards: .open)
        let closed = PinSet.Expiration(at: validTime, afterwards: .closed)
        let cases: [(PinSet, isRefused: Bool)] = [
            (try Self.pins("example.com", 1), true),
            (try Self.pins("example.com", 1, expiration: closed), true),
            (try Self.pins("example.com", 1, expiration: open), false),
            (try Self.pins("example.com", 1, enforcement: .reportOnly), false),
            (try Self.pins("example.org", 1), false),
        ]
        for (set, isRefused) in cases {
            let policy = ConnectionPolicy(Self.arbitrary, pins: try PinConfiguration([set]))
            for host in ["example.com", "www.example.com", "EXAMPLE.COM."] {
                let code = policy.decision(scheme: "http", host: host, at: validTime).code
                #expect(code == (isRefused ? -1022 : nil), "\(set) \(host)")
            }
        }
    }

    @Test("PIN-17: the pins of the settings and of the program must both match")
    func bothSources() throws {
        let server = try ServerChain.shared()
        let leaf = Pin(server.leaf).base64
        for (settingsMatch, programMatch) in [(true, true), (true, false), (false, true), (false, false)] {
            let identity: PropertyListValue =
                settingsMatch ? ["SPKI-SHA256-BASE64": .string(leaf)] : .identity(1)
            let settings = AppTransportSecurity.reading([
                "NSPinnedDomains": ["api.example.com": ["NSPinnedLeafIdentities": [identity]]]
            ]).settings
            let set = try PinSet(
                DomainRule(DomainName("example.com"), subdomains: .anyLevel),
                [PinRequirement(.leaf, [programMatch ? Pin(leaf) : .other(2), .other(3)])])
            let policy = ConnectionPolicy(settings, pins: try PinConfiguration([set]))
            let decision = policy.decision(scheme: "https", host: "Api.Example.com.", at: validTime)
            let requirements = try #require(decision.requirements)
            #expect(requirements.pins.count == 2)
            let connection = NegotiatedConnection(
                .tls13, suite: "TLS_AES_128_GCM_SHA256", verdict: server.verdict, served: server.served)
            let verdict = requirements.verdict(on: connection, at: validTime)
            #expect(verdict.isAccepted == (settingsMatch && programMatch))
            #expect(verdict.violations.count == [settingsMatch, programMatch].count { !$0 })
            #expect(verdict.violations.allSatisfy { $0.code.rawValue == -1202 })
        }
    }
}

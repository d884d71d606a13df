// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Testing

@testable import TransportPolicy

/// Domains in settings, and the hosts that they include.
@Suite("Domains in settings")
struct DomainRuleTests {
    @Test(
        "PIN-4: a domain that would silently match no host, or other hosts than intended, is refused by name",
        arguments: [
            ("", "empty"), ("*.example.com", "wildcard"), ("*", "wildcard"), ("https://example.com", "URL"),
            ("example.com/path", "URL"), ("example.com:443", "port"), ("192.0.2.1", "IP address"),
            ("2001:db8::1", "IP address"), ("[::1]", "IP address"), ("Example.com", "lower case"),
            ("example.com.", "dot"), (".example.com", "dot"), ("b\u{FC}cher.example", "A-labels"),
            ("xn--bcher-kva.example\u{3002}com", "A-labels"), ("example..com", "a domain such as"),
            ("-example.com", "a domain such as"), ("exa mple.com", "a domain such as"), ("1.2.3", "a domain such as"),
            (String(repeating: "a", count: 254), "at most 253"), ("user@example.com", "a domain such as"),
        ])
    func refused(_ text: String, _ expected: String) {
        let error = #expect(throws: TransportPolicyError.self) { try DomainName(text) }
        #expect(error?.problem.contains(expected) == true, "\(error?.problem ?? "")")
    }

    @Test(
        "PIN-4: international names are domains as A-labels, and a single label is a domain",
        arguments: ["xn--bcher-kva.example", "localhost", "example.com", "a_b.example.com", "1.example.com"])
    func accepted(_ text: String) throws {
        #expect(try DomainName(text).description == text)
    }

    @Test(
        "PIN-5: subdomains are included as the rule says, for any writing of the host",
        arguments: [
            ("example.com", [true, true, true]), ("EXAMPLE.com.", [true, true, true]),
            ("www.example.com", [false, true, true]), ("a.b.example.com", [false, false, true]),
            ("a.b.c.d.example.com", [false, false, true]), ("notexample.com", [false, false, false]),
            ("example.com.evil.com", [false, false, false]), ("com", [false, false, false]),
            ("example.org", [false, false, false]),
        ])
    func subdomains(_ host: String, _ expected: [Bool]) throws {
        let host = try #require(HostName(host))
        let included = try Subdomains.allCases.map { subdomains in
            try DomainRule(DomainName("example.com"), subdomains: subdomains).includes(host)
        }
        #expect(included == expected)
    }

    @Test("PIN-6: an excluded domain excludes itself and the names below it, and nothing else")
    func exclusions() throws {
        let rule = try DomainRule(
            DomainName("example.com"), subdomains: .anyLevel,
            excluding: [DomainName("cdn.example.com"), DomainName("a.b.example.com")])
        let included = ["example.com", "www.example.com", "b.example.com", "notcdn.example.com", "x.cdnn.example.com"]
        let excluded = [
            "cdn.example.com", "CDN.example.com.", "x.cdn.example.com", "a.b.example.com", "y.a.b.example.com",
        ]
        for host in included { #expect(rule.includes(try #require(HostName(host))), "\(host)") }
        for host in excluded { #expect(!rule.includes(try #require(HostName(host))), "\(host)") }
    }

    @Test(
        "PIN-6: an exclusion that has no effect, or leaves nothing, is refused",
        arguments: [
            ("example.org", Subdomains.anyLevel), ("example.com", .anyLevel), ("com", .anyLevel),
            ("a.example.com", .none), ("a.b.example.com", .oneLevel),
        ])
    func uselessExclusions(_ excluded: String, _ subdomains: Subdomains) {
        #expect(throws: TransportPolicyError.self) {
            try DomainRule(DomainName("example.com"), subdomains: subdomains, excluding: [DomainName(excluded)])
        }
    }
}

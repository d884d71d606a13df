// SPDX-License-Identifier: Apache-2.0

import LinuxSystem
import Testing

@testable import TransportPolicy

/// Settings that are weaker than they could be.
@Suite("App Transport Security lint")
struct ATSLintTests {
    /// A dictionary and its findings.
    struct Case: Sendable, CustomTestStringConvertible {
        let value: PropertyListValue
        let findings: [String]

        init(_ value: PropertyListValue, _ findings: String...) { (self.value, self.findings) = (value, findings) }

        var testDescription: String { findings.joined(separator: ", ") }
    }

    private static func exception(_ members: PropertyListValue, _ domain: String = "example.com") -> PropertyListValue {
        ["NSExceptionDomains": .dictionary([domain: members])]
    }

    private static let backup: PropertyListValue = [.identity(1), .identity(2)]
    private static let path = "NSExceptionDomains/example.com"

    @Test(
        "ATS-17: weak settings are found, and strong ones are not",
        arguments: [
            Case([:]), Case(["NSAllowsArbitraryLoads": false]),
            Case(["NSAllowsArbitraryLoads": true], "warning arbitrary-loads NSAllowsArbitraryLoads"),
            Case(
                ["NSAllowsArbitraryLoadsForMedia": true],
                "warning arbitrary-loads NSAllowsArbitraryLoadsForMedia"),
            Case(
                ["NSAllowsArbitraryLoadsInWebContent": true],
                "warning arbitrary-loads NSAllowsArbitraryLoadsInWebContent"),
            Case(["NSAllowsLocalNetworking": true], "note local-networking NSAllowsLocalNetworking"),
            Case(exception([:]), "note no-effect \(path)"),
            Case(exception(["NSExceptionMinimumTLSVersion": "TLSv1.3"])),
            Case(exception(["NSExceptionAllowsInsecureHTTPLoads": true]), "warning insecure-http \(path)"),
            Case(exception(["NSExceptionMinimumTLSVersion": "TLSv1.1"]), "warning old-tls-version \(path)"),
            Case(exception(["NSExceptionRequiresForwardSecrecy": false]), "warning no-forward-secrecy \(path)"),
            Case(
                exception(["NSExceptionMinimumTLSVersion": "TLSv1.3"], "co.uk"),
                "warning public-suffix NSExceptionDomains/co.uk"),
            Case(
                exception(["NSExceptionAllowsInsecureHTTPLoads": true], "0.0.0.0/0"),
                "warning insecure-http NSExceptionDomains/0.0.0.0/0"),
            Case(
                ["NSAllowsLocalNetworking": true, "NSExceptionDomains": ["example.com": [:]]],
                "note local-networking NSAllowsLocalNetworking"),
            Case(
                [
                    "NSExceptionDomains": [
                        "example.com": ["NSIncludesSubdomains": true, "NSExceptionMinimumTLSVersion": "TLSv1.3"],
                        "www.example.com": [:],
                    ]
                ]),
            Case(["NSPinnedDomains": ["example.com": ["NSPinnedLeafIdentities": backup]]]),
            Case(
                ["NSPinnedDomains": ["example.com": ["NSPinnedLeafIdentities": [.identity(1)]]]],
                "warning placeholder-pin NSPinnedDomains/example.com/NSPinnedLeafIdentities",
                "warning single-pin NSPinnedDomains/example.com/NSPinnedLeafIdentities"),
            Case(
                ["NSPinnedDomains": ["com": ["NSPinnedCAIdentities": backup]]],
                "warning public-suffix NSPinnedDomains/com"),
            Case(
                [
                    "NSPinnedDomains": [
                        "example.com": ["NSPinnedCAIdentities": backup, "NSPinnedLeafIdentities": backup]
                    ]
                ],
                "warning conflict NSPinnedDomains/example.com"),
            Case(["NSAllowsArbitraryLoads": "YES"], "error wrong-type NSAllowsArbitraryLoads"),
        ])
    func findings(_ example: Case) {
        let findings = ATSLint(AppTransportSecurity.reading(example.value), .builtIn).findings
        // The pins of the tests are placeholders; only one case expects the warning.
        let found = findings.filter {
            $0.kind != .placeholderPin || example.findings.contains { $0.contains("placeholder") }
        }
        #expect(
            found.map { "\($0.severity.rawValue) \($0.kind.rawValue) \($0.path)" }.sorted() == example.findings.sorted()
        )
        #expect(findings == findings.sorted { $0.severity > $1.severity })
    }
}

// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Foundation
import KeychainTesting
import LinuxSystem
import Testing

@testable import TransportPolicy

/// The dictionary `NSAppTransportSecurity`: the settings that are read from it, and the findings.
@Suite("App Transport Security settings")
struct ATSReaderTests {
    private static let path = "NSExceptionDomains/example.com"

    private static func exception(_ members: PropertyListValue, _ domain: String = "example.com") -> PropertyListValue {
        ["NSExceptionDomains": .dictionary([domain: members])]
    }

    private static func pinned(_ members: PropertyListValue, _ domain: String = "example.com") -> PropertyListValue {
        ["NSPinnedDomains": .dictionary([domain: members])]
    }

    @Test("ATS-1: without the key, the strict settings apply")
    func absent() throws {
        #expect(AppTransportSecurity.reading(nil) == ATSReading(settings: .strict, findings: []))
        #expect(AppTransportSecurity.reading([:]) == ATSReading(settings: .strict, findings: []))
    }

    @Test("ATS-1: a list with every key is read from XML and from the binary form")
    func everyKey() throws {
        let list: [String: Any] = [
            "CFBundleIdentifier": "com.example.app",
            "NSAppTransportSecurity": [
                "NSAllowsArbitraryLoads": false, "NSAllowsArbitraryLoadsForMedia": true,
                "NSAllowsArbitraryLoadsInWebContent": false, "NSAllowsLocalNetworking": true,
                "NSRequiresNIAPTLSPackageVersion": "none",
                "NSExceptionDomains": [
                    "example.com": [
                        "NSIncludesSubdomains": true, "NSExceptionAllowsInsecureHTTPLoads": true,
                        "NSExceptionMinimumTLSVersion": "TLSv1.3", "NSExceptionRequiresForwardSecrecy": false,
                        "NSRequiresCertificateTransparency": true,
                        "NSExceptionRequiresNIAPTLSPackageVersion": "none",
                    ] as [String: Any],
                    "192.168.0.0/16": ["NSExceptionAllowsInsecureHTTPLoads": true],
                ],
                "NSPinnedDomains": [
                    "example.org": [
                        "NSIncludesSubdomains": true,
                        "NSPinnedLeafIdentities": [["SPKI-SHA256-BASE64": Pin.other(1).base64]],
                        "NSPinnedCAIdentities": [["SPKI-SHA256-BASE64": Pin.other(2).base64]],
                    ] as [String: Any]
                ],
            ] as [String: Any],
        ]
        for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
            let bytes = try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0)
            let reading = try AppTransportSecurity.reading(infoPlist: Array(bytes))
            #expect(reading.summary == ["note obsolete \(Self.path)/NSRequiresCertificateTransparency"])
            let settings = reading.settings
            #expect(settings.allowsArbitraryLoads == false && settings.allowsArbitraryLoadsForMedia == true)
            #expect(settings.allowsArbitraryLoadsInWebContent == false && settings.allowsLocalNetworking == true)
            var domain = ExceptionDomain(.domain(try DomainRule(DomainName("example.com"), subdomains: .oneLevel)))
            (domain.allowsInsecureHTTP, domain.minimumVersion, domain.requiresForwardSecrecy) = (true, .tls13, false)
            (domain.requiresCertificateTransparency, domain.requiresNIAPPackage) = (true, false)
            var range = ExceptionDomain(.addresses(try #require(AddressRange("192.168.0.0/16"))))
            range.allowsInsecureHTTP = true
            #expect(Set(settings.exceptions) == [domain, range])
            let requirements = [
                try PinRequirement(.leaf, [.other(1)]), try PinRequirement(.certificateAuthority, [.other(2)]),
            ]
            let pins = try PinSet(
                DomainRule(DomainName("example.org"), subdomains: .oneLevel), requirements, requiresBackup: false)
            #expect(settings.pins.sets == [pins])
        }
    }

    @Test(
        "ATS-2: data that is no property list with a dictionary is an error",
        arguments: ["", "text", "<plist><array/></plist>", "bplist00", "{ NSAppTransportSecurity = {}; }"])
    func notALists(_ text: String) {
        #expect(throws: TransportPolicyError.self) { try AppTransportSecurity.reading(infoPlist: Array(text.utf8)) }
    }

    @Test("ATS-2: a longer list than the limit is an error before it is read")
    func tooLong() {
        let bytes = Array("<plist><dict/></plist>".utf8) + Array(repeating: 0x20, count: AppTransportSecurity.maxLength)
        let error = #expect(throws: TransportPolicyError.self) { try AppTransportSecurity.reading(infoPlist: bytes) }
        #expect(error?.problem.contains("1048576") == true)
    }

    /// A dictionary and its findings.
    struct Case: Sendable, CustomTestStringConvertible {
        let value: PropertyListValue
        let findings: [String]

        init(_ value: PropertyListValue, _ findings: String...) { (self.value, self.findings) = (value, findings) }

        var testDescription: String { findings.joined(separator: ", ") }
    }

    @Test(
        "ATS-3: unknown keys, wrong types, wrong values and conflicts are reported with their path",
        arguments: [
            Case("YES", "error wrong-type "), Case([], "error wrong-type "),
            Case(["NSAllowsArbitraryLoads": "YES"], "error wrong-type NSAllowsArbitraryLoads"),
            Case(["NSAllowsArbitraryLoads": 1], "error wrong-type NSAllowsArbitraryLoads"),
            Case(["NSAllowsArbitraryLoadsForMedia": []], "error wrong-type NSAllowsArbitraryLoadsForMedia"),
            Case(["NSAllowArbitraryLoads": true], "warning unknown-key NSAllowArbitraryLoads"),
            Case(
                ["NSAllowsArbitraryLoads": true, "NSAllowsLocalNetworking": false],
                "warning no-effect NSAllowsArbitraryLoads"),
            Case(["NSRequiresNIAPTLSPackageVersion": "FCP_v2.1"], "error unsupported NSRequiresNIAPTLSPackageVersion"),
            Case(["NSExceptionDomains": []], "error wrong-type NSExceptionDomains"),
            Case(exception(true), "error wrong-type \(path)"),
            Case(exception([:], "Example.com"), "error wrong-domain NSExceptionDomains/Example.com"),
            Case(exception([:], "*.example.com"), "error wrong-domain NSExceptionDomains/*.example.com"),
            Case(exception([:], "example.com."), "error wrong-domain NSExceptionDomains/example.com."),
            Case(exception([:], "192.0.2.1/24"), "error wrong-domain NSExceptionDomains/192.0.2.1/24"),
            Case(exception([:], "b\u{FC}cher.example"), "error wrong-domain NSExceptionDomains/b\u{FC}cher.example"),
            Case(exception(["NSIncludesSubdomains": "true"]), "error wrong-type \(path)/NSIncludesSubdomains"),
            Case(
                exception(["NSIncludesSubdomains": true], "192.0.2.1"),
                "note no-effect NSExceptionDomains/192.0.2.1/NSIncludesSubdomains"),
            Case(
                exception(["NSExceptionMinimumTLSVersion": "TLSv1.4"]),
                "error wrong-value \(path)/NSExceptionMinimumTLSVersion"),
            Case(
                exception(["NSExceptionMinimumTLSVersion": 12]), "error wrong-type \(path)/NSExceptionMinimumTLSVersion"
            ),
            Case(
                exception(["NSThirdPartyExceptionAllowsInsecureHTTPLoads": true]),
                "note obsolete \(path)/NSThirdPartyExceptionAllowsInsecureHTTPLoads"),
            Case(
                exception([
                    "NSTemporaryExceptionMinimumTLSVersion": "TLSv1.0",
                    "NSTemporaryThirdPartyExceptionRequiresForwardSecrecy": false,
                ]),
                "note obsolete \(path)/NSTemporaryExceptionMinimumTLSVersion",
                "note obsolete \(path)/NSTemporaryThirdPartyExceptionRequiresForwardSecrecy"),
            Case(
                exception([
                    "NSExceptionRequiresForwardSecrecy": true, "NSThirdPartyExceptionRequiresForwardSecrecy": false,
                ]),
                "error conflict \(path)", "note obsolete \(path)/NSThirdPartyExceptionRequiresForwardSecrecy"),
            Case(exception(["NSExceptionAllowInsecure": true]), "warning unknown-key \(path)/NSExceptionAllowInsecure"),
            Case(["NSPinnedDomains": "example.com"], "error wrong-type NSPinnedDomains"),
            Case(pinned([:]), "error wrong-value NSPinnedDomains/example.com"),
            Case(
                pinned(["NSPinnedLeafIdentities": [.identity(1)]], "192.0.2.1"),
                "error wrong-domain NSPinnedDomains/192.0.2.1"),
            Case(
                pinned(["NSPinnedLeafIdentities": []]),
                "error wrong-value NSPinnedDomains/example.com/NSPinnedLeafIdentities"),
            Case(
                pinned(["NSPinnedLeafIdentities": [["SPKI-SHA256-BASE64": "AAAA"]]]),
                "error wrong-value NSPinnedDomains/example.com/NSPinnedLeafIdentities/0"),
            Case(
                pinned(["NSPinnedCAIdentities": [.identity(1), ["SPKI-SHA1-BASE64": "AAAA"]]]),
                "error wrong-value NSPinnedDomains/example.com/NSPinnedCAIdentities/1"),
            Case(
                pinned(["NSPinnedCAIdentities": .identity(1)]),
                "error wrong-type NSPinnedDomains/example.com/NSPinnedCAIdentities"),
            Case(
                pinned(["NSPinnedCAIdentities": [.identity(1)], "NSPinnedLeafIdentity": [.identity(1)]]),
                "error unknown-key NSPinnedDomains/example.com/NSPinnedLeafIdentity"),
            Case(
                pinned(["NSPinnedCAIdentities": [.identity(1), .identity(1)]]),
                "warning conflict NSPinnedDomains/example.com/NSPinnedCAIdentities"),
            Case(
                [
                    "NSExceptionDomains": ["example.com": ["NSExceptionAllowsInsecureHTTPLoads": true]],
                    "NSPinnedDomains": ["example.com": ["NSPinnedLeafIdentities": [.identity(1)]]],
                ], "warning conflict NSPinnedDomains/example.com"),
            Case(
                ["NSExceptionDomains": ["10.0.0.0/8": [:], "192.0.2.0/24": [:], "::ffff:192.0.2.0/120": [:]]],
                "error conflict NSExceptionDomains/::ffff:192.0.2.0/120"),
        ])
    func findings(_ example: Case) {
        let reading = AppTransportSecurity.reading(example.value)
        #expect(reading.summary == example.findings.sorted())
        #expect(reading.findings.allSatisfy { !$0.problem.isEmpty })
    }

    @Test("ATS-4: a dictionary with an error grants no general exception, but keeps its readable requirements")
    func errors() throws {
        let reading = AppTransportSecurity.reading([
            "NSAllowsArbitraryLoads": true, "NSExceptionDomains": ["Example.com": [:]],
        ])
        #expect(reading.hasErrors && !reading.settings.allowsArbitraryLoads)
        let others = AppTransportSecurity.reading([
            "NSAllowsArbitraryLoadsForMedia": true, "NSAllowsArbitraryLoadsInWebContent": true,
            "NSAllowsLocalNetworking": true, "NSAllowsArbitraryLoads": "YES",
        ]).settings
        for purpose in LoadPurpose.allCases {
            let decision = ConnectionPolicy(others).decision(
                scheme: "http", host: "nas", purpose: purpose, at: validTime)
            #expect(decision.code == -1022, "\(purpose)")
        }
    }

    @Test("ATS-5: an entry with an error grants nothing, to any subdomain, and keeps the stricter version")
    func exceptionErrors() throws {
        let members: [PropertyListValue] = [
            true, ["NSExceptionAllowsInsecureHTTPLoads": true, "NSIncludesSubdomains": "YES"],
            ["NSExceptionAllowsInsecureHTTPLoads": true, "NSExceptionMinimumTLSVersion": "1.0"],
            ["NSExceptionAllowsInsecureHTTPLoads": true, "NSExceptionRequiresForwardSecrecy": "NO"],
            ["NSExceptionAllowsInsecureHTTPLoads": true, "NSThirdPartyExceptionAllowsInsecureHTTPLoads": false],
        ]
        let versions: [TLSVersion] = [.tls13, .tls12, .tls13, .tls12, .tls12]
        for (value, version) in zip(members, versions) {
            let policy = ConnectionPolicy(AppTransportSecurity.reading(Self.exception(value)).settings)
            for host in ["example.com", "www.example.com", "a.b.example.com"] {
                #expect(policy.decision(scheme: "http", host: host, at: validTime).code == -1022, "\(value) \(host)")
                let requirements = try #require(
                    policy.decision(scheme: "https", host: host, at: validTime).requirements)
                #expect(
                    requirements.minimumVersion == version && requirements.requiresForwardSecrecy, "\(value) \(host)")
            }
        }
        let readable = Self.exception(["NSIncludesSubdomains": 1, "NSExceptionMinimumTLSVersion": "TLSv1.1"])
        let policy = ConnectionPolicy(AppTransportSecurity.reading(readable).settings)
        let requirements = policy.decision(scheme: "https", host: "example.com", at: validTime).requirements
        #expect(requirements?.minimumVersion == .tls12)
    }

    @Test("ATS-6: pins that cannot be read refuse the connections that they may be for")
    func pinErrors() {
        let leaf: PropertyListValue = ["NSPinnedLeafIdentities": [.identity(1)]]
        let cases: [(PropertyListValue, refused: [String], allowed: [String])] = [
            (Self.pinned([:]), ["example.com", "a.b.example.com"], ["example.org"]),
            (Self.pinned(["NSPinnedLeafIdentities": ["x"]]), ["example.com", "EXAMPLE.com."], ["com", "192.0.2.1"]),
            (
                Self.pinned(["NSPinnedLeafIdentities": [.identity(1)], "NSPinnedCAIdentities": ["x"]]),
                ["example.com", "www.example.com"], ["example.org"]
            ),
            (
                Self.pinned(["NSPinnedLeafIdentities": [.identity(1)], "NSPinnedRootIdentities": []]), ["example.com"],
                ["example.org"]
            ),
            (Self.pinned(leaf, "*.example.com"), ["example.com", "example.org", "192.0.2.1"], []),
            (Self.pinned(leaf, "Example.com"), ["example.com", "example.org"], []),
            (["NSPinnedDomains": []], ["example.com", "192.0.2.1"], []), ("text", ["example.com"], []),
            (Self.pinned(leaf), [], ["example.com", "example.org"]),
        ]
        for (value, refused, allowed) in cases {
            let policy = ConnectionPolicy(AppTransportSecurity.reading(value).settings)
            for host in refused {
                #expect(policy.decision(scheme: "https", host: host, at: validTime).code == -1200, "\(value) \(host)")
            }
            for host in allowed {
                #expect(policy.decision(scheme: "https", host: host, at: validTime).code == nil, "\(value) \(host)")
            }
        }
    }

    @Test("ATS-7: a required NIAP package refuses connections, unless the entry of the domain requires none")
    func package() {
        func code(_ value: PropertyListValue, _ host: String = "example.com") -> Int? {
            ConnectionPolicy(AppTransportSecurity.reading(value).settings)
                .decision(scheme: "https", host: host, at: validTime).code
        }
        let key = "NSExceptionRequiresNIAPTLSPackageVersion"
        let general: [String: PropertyListValue] = ["NSRequiresNIAPTLSPackageVersion": "FCP_v2.1"]
        #expect(code(.dictionary(general)) == -1200)
        #expect(code(Self.exception(["NSExceptionRequiresNIAPTLSPackageVersion": "FCP_v2.1"])) == -1200)
        #expect(code(Self.exception(["NSExceptionRequiresNIAPTLSPackageVersion": 1]), "www.example.com") == -1200)
        let exempt = general.merging(["NSExceptionDomains": ["example.com": .dictionary([key: "none"])]]) { $1 }
        #expect(code(.dictionary(exempt)) == nil && code(.dictionary(exempt), "example.org") == -1200)
    }

    @Test("ATS-8: the numbers of domains, identities and findings are limited")
    func limits() throws {
        func domains(_ count: Int, _ value: PropertyListValue) -> PropertyListValue {
            .dictionary(Dictionary(uniqueKeysWithValues: (0..<count).map { ("d\($0).example", value) }))
        }
        let leaf: PropertyListValue = ["NSPinnedLeafIdentities": [.identity(1)]]
        let most = AppTransportSecurity.reading([
            "NSExceptionDomains": domains(1000, [:]), "NSPinnedDomains": domains(1000, leaf),
        ])
        #expect(
            most.findings.isEmpty && most.settings.exceptions.count == 1000 && most.settings.pins.sets.count == 1000)
        let exceptions = AppTransportSecurity.reading([
            "NSAllowsArbitraryLoads": true, "NSExceptionDomains": domains(1001, [:]),
        ])
        #expect(exceptions.summary == ["error limit NSExceptionDomains"] && !exceptions.settings.allowsArbitraryLoads)
        let pins = AppTransportSecurity.reading(["NSPinnedDomains": domains(1001, leaf)])
        #expect(pins.summary == ["error limit NSPinnedDomains"])
        let decision = ConnectionPolicy(pins.settings).decision(scheme: "https", host: "example.com", at: validTime)
        #expect(decision.code == -1200)
        let identities = Self.pinned(["NSPinnedLeafIdentities": .array((0...64).map { .identity(UInt8($0)) })])
        #expect(
            AppTransportSecurity.reading(identities).summary
                == ["error limit NSPinnedDomains/example.com/NSPinnedLeafIdentities"])
        // Warnings first, and an error after the limit.
        let unknown = (0..<2000).map { ("A\($0)", PropertyListValue.boolean(true)) }
        let many = AppTransportSecurity.reading(
            [
                "NSAllowsArbitraryLoads": true,
                "NSExceptionDomains": [
                    "example.com": .dictionary(Dictionary(uniqueKeysWithValues: unknown)), "x.": [:],
                ],
            ])
        #expect(many.findings.count <= 501 && many.hasErrors && !many.settings.allowsArbitraryLoads)
    }

    @Test("ATS-8: an error that is left out of the report has its effects")
    func errorsBeyondTheLimit() throws {
        let wrong = (0..<ATSReader.maxFindings).map {
            (String(10_000 + $0) + ".example", PropertyListValue.boolean(true))
        }
        let exceptions = Dictionary(uniqueKeysWithValues: wrong).merging([
            "z.example": [
                "NSExceptionAllowsInsecureHTTPLoads": true, "NSExceptionRequiresForwardSecrecy": "NO",
            ]
        ]) { $1 }
        // The leaf is valid, and the CA is not.
        let pins: PropertyListValue = [
            "z.example": ["NSPinnedLeafIdentities": [.identity(1)], "NSPinnedCAIdentities": ["wrong"]]
        ]
        let reading = AppTransportSecurity.reading([
            "NSAllowsArbitraryLoads": true, "NSExceptionDomains": .dictionary(exceptions), "NSPinnedDomains": pins,
        ])
        #expect(reading.findings.count == ATSReader.maxFindings && reading.hasErrors)
        let policy = ConnectionPolicy(reading.settings)
        #expect(policy.decision(scheme: "https", host: "z.example", at: validTime).code == -1200)
        #expect(policy.decision(scheme: "http", host: "z.example", at: validTime).code == -1022)
        #expect(policy.decision(scheme: "http", host: "other.example", at: validTime).code == -1022)
    }

    @Test("ATS-8: a key of any length is shortened in the report")
    func longKeys() {
        let key = String(repeating: "\u{1F600}", count: 100_000)
        let reading = AppTransportSecurity.reading(.dictionary([key: true]))
        #expect(reading.findings.map(\.path.count) == [100])
        let domain = AppTransportSecurity.reading(Self.exception([:], key))
        #expect(domain.findings.allSatisfy { $0.problem.count < 300 && $0.path.count < 200 })
    }

    // MARK: Files

    @Test("ATS-9: the list beside a program is read if it exists; one that cannot be read is an error")
    func files() throws {
        let directory = try TemporaryDirectory()
        let (program, path) = ("\(directory.path)/program", "\(directory.path)/Info.plist")
        #expect(try AppTransportSecurity.reading(beside: program).settings == .strict)
        #expect(throws: TransportPolicyError.self) { try AppTransportSecurity.reading(file: path) }
        let list =
            "<plist><dict><key>NSAppTransportSecurity</key><dict><key>NSAllowsArbitraryLoads</key><true/></dict></dict></plist>"
        try Data(list.utf8).write(to: URL(filePath: path))
        for reading in [
            try AppTransportSecurity.reading(beside: program), try AppTransportSecurity.reading(file: path),
        ] {
            #expect(reading.settings.isArbitraryLoadsEffective)
        }
        try Data("text".utf8).write(to: URL(filePath: path))
        let error = #expect(throws: TransportPolicyError.self) { try AppTransportSecurity.reading(beside: program) }
        #expect(error?.problem.contains(path) == true)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "\(directory.path)/nothing")
        #expect(throws: TransportPolicyError.self) { try AppTransportSecurity.reading(beside: program) }
        #expect(throws: TransportPolicyError.self) { try AppTransportSecurity.reading(file: "/dev/zero") }
    }

    @Test("ATS-9: the list beside this program's executable is looked for")
    func besideProgram() throws {
        // The test program has none.
        #expect(try AppTransportSecurity.besideProgram().settings == .strict)
    }
}

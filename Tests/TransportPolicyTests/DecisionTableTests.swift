// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Testing

@testable import TransportPolicy

/// Every combination of Tables/decisions.txt. The values of the table are written by hand.
@Suite("Truth table of connections")
struct DecisionTableTests {
    private let tables: DecisionTables

    init() throws { tables = try DecisionTables() }

    @Test("ATS-10: for each setting and host, HTTP without TLS is allowed or refused with -1022 as in the table")
    func plain() throws {
        let table = try tables.table("http: whether a host may be reached without TLS")
        var count = 0
        for (name, cells) in table.rows {
            let policy = ConnectionPolicy(try DecisionTables.settings(name))
            for (host, expected) in cells {
                for scheme in ["http", "HTTP", "ws"] {
                    count += 1
                    let decision = policy.decision(scheme: scheme, host: host, at: validTime)
                    #expect(decision.code == (expected == "yes" ? nil : -1022), "\(name) \(scheme) \(host)")
                    #expect((decision == .plain) == (expected == "yes"), "\(name) \(scheme) \(host)")
                }
            }
        }
        #expect(count == 315)
    }

    @Test(
        "ATS-11: for each setting, host, version, cipher suite and key, a handshake is accepted or refused as in the table"
    )
    func handshakes() throws {
        let server = try ServerChain.shared()
        var count = 0
        for (name, cells) in try tables.table("https: the rules of a host").rows {
            let policy = ConnectionPolicy(try DecisionTables.settings(name))
            for (host, rules) in cells {
                let requirements = policy.decision(scheme: "https", host: host, at: validTime).requirements
                let expected = try tables.table("handshake: \(rules)")
                count += try compare(try #require(requirements), expected, server, "\(name) \(host)")
            }
        }
        #expect(count == 26_250)
    }

    @Test("ATS-12: the keys for media and web content apply to loads of their kind alone")
    func purposes() throws {
        let server = try ServerChain.shared()
        var count = 0
        for host in ["other.test", "example.com"] {
            for (name, cells) in try tables.table("purpose: the rules of \(host)").rows {
                let policy = ConnectionPolicy(try DecisionTables.settings(name))
                for (column, rules) in cells {
                    let purpose = try #require(LoadPurpose.allCases.first { "\($0)" == column })
                    let decision = policy.decision(scheme: "wss", host: host, purpose: purpose, at: validTime)
                    let expected = try tables.table("handshake: \(rules)")
                    count += try compare(try #require(decision.requirements), expected, server, "\(name) \(column)")
                }
            }
        }
        #expect(count == 6750)
    }

    /// Compares all handshakes of a table.
    ///
    /// - Returns: their number.
    private func compare(
        _ requirements: TLSRequirements, _ expected: DecisionTables.Table, _ server: ServerChain, _ comment: String
    ) throws -> Int {
        var connection = NegotiatedConnection(.tls13, suite: "", verdict: server.verdict, served: server.served)
        var count = 0
        for (label, cells) in expected.rows {
            let words = label.split(separator: " ").map(String.init)
            connection.version = try #require(DecisionTables.versions[words.first ?? ""])
            connection.suite = try #require(DecisionTables.suites[words.last ?? ""])
            for (key, cell) in cells {
                connection.leaf = try #require(DecisionTables.keys[key])
                let verdict = requirements.verdict(on: connection, at: validTime)
                let letters = verdict.violations.map(\.letter).joined()
                if letters != (cell == "-" ? "" : cell) {
                    Issue.record("\(comment) \(expected.name) \(label) \(key): expected \(cell), found \(letters)")
                }
                count += 1
            }
        }
        return count
    }
}

extension TransportViolation {
    /// How the tables name the requirement.
    fileprivate var letter: String {
        switch kind {
        case .version: "V"
        case .unknownSuite: "S"
        case .suiteOfOtherVersion: "X"
        case .forwardSecrecy: "F"
        case .key: "K"
        case .signatureHash: "H"
        case .trust, .otherChain, .certificateTransparency, .pins: "?"
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import CertificateTrust

/// Embedded timestamps of certificate logs (RFC 6962).
@Suite("Certificate Transparency")
struct TransparencyTests {
    private let vectors: TransparencyVectors

    init() throws { vectors = try TransparencyVectors.read() }

    private func verdict(
        on leaf: Certificate, _ policy: CertificateTransparencyPolicy?,
        _ change: (inout TrustEvaluation) -> Void = { _ in }
    ) -> TrustVerdict {
        var evaluation = TrustEvaluation([leaf], policies: [.basicX509], at: TransparencyVectors.time)
        evaluation.anchors = [vectors.root]
        evaluation.isAnchorsOnly = true
        evaluation.transparency = policy
        change(&evaluation)
        return evaluation.verdict()
    }

    @Test("The logs of each certificate have the timestamps that another implementation made for it")
    func logs() throws {
        #expect(vectors.cases.count == 24)
        let policy = CertificateTransparencyPolicy(logs: vectors.logs)
        for each in vectors.cases {
            let leaf = try each.parsed()
            #expect(try Precertificate.signedBytes(of: leaf) == Array(each.precertificate), "\(each.name)")
            let result = policy.result(of: [leaf, vectors.root], at: TransparencyVectors.time)
            #expect(result.logs.map(\.name) == each.logs, "\(each.name): \(result.problems)")
            #expect(result.isSatisfied == each.satisfied, "\(each.name)")
            // Without other extensions, it does not name the key of its issuer.
            guard each.name != "the only extension" else { continue }
            let verdict = verdict(on: leaf, policy)
            #expect(verdict.isTrusted == each.satisfied, "\(each.name)")
            #expect(verdict.failure?.rule == (each.satisfied ? nil : .transparency), "\(each.name)")
        }
    }

    @Test("A policy that is not required refuses nothing, and without a policy timestamps are not read")
    func notRequired() throws {
        for each in vectors.cases where each.name != "the only extension" {
            let leaf = try each.parsed()
            #expect(verdict(on: leaf, CertificateTransparencyPolicy(logs: vectors.logs, required: false)).isTrusted)
            #expect(verdict(on: leaf, nil).isTrusted)
        }
    }

    @Test("The failure names the found timestamps, and no exception waives it")
    func failure() throws {
        let single = try #require(vectors.cases.first { $0.name == "an unknown log" }).parsed()
        let policy = CertificateTransparencyPolicy(logs: vectors.logs)
        let verdict = verdict(on: single, policy) { $0.ignoredRules = Set(TrustRule.allCases) }
        let failure = try #require(verdict.failure)
        #expect(failure.explanation.hasPrefix("expected timestamps of 2 logs, found 1 of 1 operators: the log "))
        #expect(failure.explanation.hasSuffix("… is not in the list"))
        #expect("\(failure.rule.status)".contains("-67825") && !failure.rule.isRecoverable)
        #expect(verdict.result == .fatalTrustFailure)
    }

    @Test("As many logs are required as the policy says, and at least one", arguments: [-1, 0, 1, 2, 3, 4])
    func numbers(_ minLogs: Int) throws {
        let policy = CertificateTransparencyPolicy(logs: vectors.logs, minLogs: minLogs)
        for (name, count) in [("none", 0), ("one log", 1), ("two operators", 2), ("three logs", 3)] {
            let leaf = try #require(vectors.cases.first { $0.name == name }).parsed()
            #expect(verdict(on: leaf, policy).isTrusted == (count >= max(1, minLogs)), "\(name)")
        }
    }

    @Test("A timestamp of the reference implementation is authentic for its certificate, and not for another one")
    func reference() throws {
        let key = Array(try #require(ReferenceTimestamps.logKey))
        let log = try CertificateLog(key: key, name: "reference", operatorName: "reference")
        let policy = CertificateTransparencyPolicy(logs: CertificateLogList([log]), minLogs: 1)
        let authority = try Certificate(der: Array(try #require(ReferenceTimestamps.authority)))
        for (data, isAuthentic) in [(ReferenceTimestamps.embedded, true), (ReferenceTimestamps.invalid, false)] {
            let leaf = try Certificate(der: Array(try #require(data)))
            let result = policy.result(of: [leaf, authority], at: TransparencyVectors.time)
            #expect(result.isSatisfied == isAuthentic, "\(result.problems)")
            #expect(!policy.result(of: [leaf, vectors.root], at: TransparencyVectors.time).isSatisfied)
            #expect(!policy.result(of: [leaf], at: TransparencyVectors.time).isSatisfied)
        }
        // 2013-04-05 17:04:16.275 UTC.
        let leaf = try Certificate(der: Array(try #require(ReferenceTimestamps.embedded)))
        #expect(try SignedCertificateTimestamp.embedded(in: leaf).map(\.milliseconds) == [1_365_181_456_275])
        #expect(!policy.result(of: [leaf, authority], at: 1_365_181_456).isSatisfied)
        #expect(policy.result(of: [leaf, authority], at: 1_365_181_457).isSatisfied)
    }

    @Test("Every changed bit of a list of timestamps makes it unreadable or takes its logs away")
    func changedBits() throws {
        let leaf = try #require(vectors.cases.first { $0.name == "two operators" }).parsed()
        let value = try #require(leaf.extensions[.signedCertificateTimestamps]).value
        let policy = CertificateTransparencyPolicy(logs: vectors.logs)
        let start = try #require(leaf.der.firstRange(of: value)).lowerBound
        var readable = 0
        for index in value.indices {
            var der = leaf.der
            der[start + index - value.startIndex] ^= 1 << (index % 8)
            guard let changed = try? Certificate(der: der) else { continue }
            readable += 1
            let result = policy.result(of: [changed, vectors.root], at: TransparencyVectors.time)
            #expect(!result.isSatisfied, "byte \(index - value.startIndex)")
        }
        #expect(readable > 300)
    }

    @Test("Every change of the certificate outside of the list takes its logs away")
    func changedCertificate() throws {
        let case0 = try #require(vectors.cases.first { $0.name == "two operators" })
        let policy = CertificateTransparencyPolicy(logs: vectors.logs)
        let original = try case0.parsed()
        let value = try #require(original.extensions[.signedCertificateTimestamps]).value
        let list = try #require(original.der.firstRange(of: value))
        // The signature of the certificate itself is not a part of the data that the log signed.
        for index in 4..<original.der.count - original.signature.count - 20 where !list.contains(index) {
            var der = original.der
            der[index] ^= 1
            guard let changed = try? Certificate(der: der) else { continue }
            let result = policy.result(of: [changed, vectors.root], at: TransparencyVectors.time)
            #expect(!result.isSatisfied, "byte \(index)")
        }
    }
}

@Suite("Lists of certificate timestamps and logs")
struct TransparencyReadingTests {
    private static let entry =
        [0] + [UInt8](repeating: 7, count: 32) + [UInt8](repeating: 0, count: 8) + [0, 0, 4, 3, 0, 1, 9]

    private static func vector(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
    }

    @Test(
        "A list that is not exactly one is refused",
        arguments: [
            [], [0], [0, 0], [0, 1], vector([0, 0]), vector(vector([])), vector(vector(entry)) + [0],
            vector(vector(entry + [0])), vector(vector(Array(entry.dropLast()))), vector([0, 1]),
            vector(vector(entry) + [0]), Array(vector(vector(entry)).dropLast()),
            vector((0...64).flatMap { _ in vector(entry) }),
        ])
    func refusedLists(_ bytes: [UInt8]) {
        #expect(throws: CertificateError.self) { try SignedCertificateTimestamp.list(bytes) }
    }

    @Test("A list with the most timestamps is read, and unknown versions are left out")
    func lists() throws {
        let most = Self.vector((0..<64).flatMap { _ in Self.vector(Self.entry) })
        #expect(try SignedCertificateTimestamp.list(most).count == 64)
        let mixed = Self.vector(Self.vector([1]) + Self.vector(Self.entry) + Self.vector([255, 1, 2]))
        #expect(try SignedCertificateTimestamp.list(mixed).count == 1)
    }

    private func json(_ change: (inout [String: Any]) -> Void) throws -> CertificateLogList {
        let list = try TransparencyVectors.read().list
        let operators = try #require(list["operators"] as? [[String: Any]])
        var entry = try #require((operators[0]["logs"] as? [[String: Any]])?.first)
        change(&entry)
        let others = try #require(operators[1]["logs"] as? [[String: Any]])
        let object: [String: Any] = ["operators": [["name": "x", "logs": [entry]], ["name": "y", "logs": others]]]
        return try CertificateLogList(json: Array(JSONSerialization.data(withJSONObject: object)))
    }

    @Test("The list of logs has the usable logs, and those of tiled_logs")
    func logList() throws {
        let logs = try TransparencyVectors.read().logs
        // All but the pending one.
        #expect(logs.count == 6 && logs.problems.isEmpty)
        #expect(try json { _ in }.count == 3)
    }

    @Test("An entry that cannot be read is left out, and named")
    func refusedEntries() throws {
        let changes: [(String, (inout [String: Any]) -> Void)] = [
            ("log_id is not the hash of the key", { $0["log_id"] = "AAAA" }),
            ("the key is not Base64", { $0["key"] = "?" }),
            ("not a SubjectPublicKeyInfo", { $0["key"] = "AAAA" }),
            ("exactly one state", { $0["state"] = nil }),
            ("exactly one state", { $0["state"] = ["usable": ["timestamp": ""], "retired": ["timestamp": ""]] }),
            ("the state broken is not known", { $0["state"] = ["broken": ["timestamp": ""]] }),
            ("a time must have the form", { $0["state"] = ["retired": ["timestamp": "yesterday"]] }),
            ("a time must have the form", { $0["state"] = ["retired": ["timestamp": "2026-02-30T00:00:00Z"]] }),
            ("a time must have the form", { $0["state"] = ["retired": [String: String]()] }),
            (
                "the interval ends before it starts",
                {
                    $0["temporal_interval"] = [
                        "start_inclusive": "2026-01-01T00:00:00Z", "end_exclusive": "2026-01-01T00:00:00Z",
                    ]
                }
            ),
        ]
        for (problem, change) in changes {
            let list = try json(change)
            #expect(list.count == 2, "\(problem)")
            #expect(list.problems.count == 1 && list.problems[0].contains(problem), "\(problem): \(list.problems)")
        }
        #expect(try json { $0["state"] = ["retired": ["timestamp": "2016-11-30T13:24:18.33Z"]] }.count == 3)
        #expect(try json { $0["state"] = ["rejected": ["timestamp": "2016-11-30T13:24:18Z"]] }.count == 2)
    }

    @Test(
        "A text that is no list of logs, or a list without logs, is refused",
        arguments: ["", "{}", "[]", "{\"operators\": 1}", "{\"operators\": []}", "{\"operators\": [{\"logs\": []}]}"])
    func refusedJSON(_ text: String) {
        #expect(throws: CertificateError.self) { try CertificateLogList(json: Array(text.utf8)) }
    }

    @Test("A list of logs that is longer than the limit, or deeper than any list, is refused")
    func limits() {
        let blank = [UInt8](repeating: 0x20, count: CertificateLogList.maxLength + 1)
        #expect(throws: CertificateError.self) { try CertificateLogList(json: blank) }
        let deep = String(repeating: "[", count: 1_000_000)
        #expect(throws: CertificateError.self) { try CertificateLogList(json: Array(deep.utf8)) }
    }
}

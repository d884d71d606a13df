// SPDX-License-Identifier: Apache-2.0

import SecretScan

/// An untrusted file: its first byte chooses a name. The fuzzer and the test that replays its corpus use it.
enum ScanInput {
    private static let names = [
        "a.env", "a.json", "a.swift", ".netrc", "a.log", "a.md", "a.zip", "a.plist", "a.db", "a",
    ]

    /// Scans the bytes.
    ///
    /// - Returns: the number of findings, and the fault of the report; nil for none.
    static func scan(_ bytes: [UInt8]) -> (count: Int, fault: String?) {
        var limits = ScanLimits()
        (limits.maxDecodedLength, limits.maxDocuments, limits.maxFindings) = (8 << 20, 200, 100)
        let name = names[Int(bytes.first ?? 0) % names.count]
        let content = Array(bytes.dropFirst())
        let report = SecretScanner(limits).scan(content, name: name)
        guard report.findings.count <= limits.maxFindings else { return (0, "more findings than the limit") }
        for finding in report.findings {
            guard finding.masked.utf8.count <= 8 + "…".utf8.count else {
                return (0, "a secret is shown: \(finding.masked.utf8.count)")
            }
            guard finding.place.line >= 1, finding.place.column >= 1, finding.place.names.first == name else {
                return (0, "a wrong place")
            }
            if case .possible(let range) = finding.replacement {
                guard !range.isEmpty, range.lowerBound >= 0, range.upperBound <= content.count else {
                    return (0, "a replacement outside of the file")
                }
                guard !content[range].contains(where: { $0 < 0x20 }) else { return (0, "a replacement of lines") }
            }
        }
        guard SecretScanner(limits).scan(content, name: name).findings == report.findings else {
            return (0, "the same bytes gave two reports")
        }
        return (report.findings.count, nil)
    }
}

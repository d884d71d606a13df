// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyCommands
internal import SecretScan

/// A report in SARIF 2.1.0 (OASIS), as far as code scanning reads it.
struct SARIFReport: Encodable {
    let version = "2.1.0"
    let runs: [Run]

    private enum CodingKeys: String, CodingKey { case version, runs }

    init(_ report: LintReport) {
        let rules = LintFinding.rules.map { Rule(id: $0.id, shortDescription: Message(text: $0.title)) }
        let notifications = report.problems.map {
            Notification(
                level: "error",
                message: Message(text: "not scanned: \($0.names.joined(separator: " > ")): \($0.reason)"))
        }
        runs = [
            Run(
                tool: Tool(driver: Driver(name: "latchkey-lint", version: LatchkeyVersion.current, rules: rules)),
                results: report.findings.map(Result.init),
                invocations: [
                    Invocation(executionSuccessful: report.problems.isEmpty, toolExecutionNotifications: notifications)
                ])
        ]
    }

    struct Run: Encodable {
        let tool: Tool
        let results: [Result]
        let invocations: [Invocation]
    }

    struct Tool: Encodable { let driver: Driver }

    struct Driver: Encodable {
        let name: String
        let version: String
        let rules: [Rule]
    }

    struct Rule: Encodable {
        let id: String
        let shortDescription: Message
    }

    struct Message: Encodable { let text: String }

    struct Invocation: Encodable {
        let executionSuccessful: Bool
        let toolExecutionNotifications: [Notification]
    }

    struct Notification: Encodable {
        let level: String
        let message: Message
    }

    struct Result: Encodable {
        let ruleId: String
        let level = "error"
        let message: Message
        let locations: [Location]
        let partialFingerprints: [String: String]

        private enum CodingKeys: String, CodingKey { case ruleId, level, message, locations, partialFingerprints }

        init(_ finding: LintFinding) {
            ruleId = finding.id
            let place = (finding.place.names.dropFirst() + finding.place.encodings).joined(separator: " > ")
            message = Message(text: place.isEmpty ? finding.text : "\(finding.text) in \(place)")
            locations = [Location(finding.place)]
            partialFingerprints = ["latchkey/v1": finding.fingerprint]
        }
    }

    struct Location: Encodable {
        let physicalLocation: Physical

        init(_ place: ScanPlace) {
            let uri = RelativeReference(path: place.names.first ?? "").text
            // A document in the file has no line of the file.
            let line =
                place.names.count == 1
                ? place.line : 1
            physicalLocation = Physical(artifactLocation: Artifact(uri: uri), region: Region(startLine: line))
        }
    }

    struct Physical: Encodable {
        let artifactLocation: Artifact
        let region: Region
    }

    struct Artifact: Encodable { let uri: String }

    /// Columns of SARIF are characters, and those of findings are bytes: it has lines alone.
    struct Region: Encodable { let startLine: Int }
}

/// A path as a reference of RFC 3986: other characters than those of a path are percent-encoded.
private struct RelativeReference {
    let text: String

    init(path: String) {
        let encoded = PercentEncoding.text(path, keeping: PercentEncoding.unreserved.union("/!$&'()*+,;=@".utf8))
        text = path.hasPrefix("/") ? "file://\(encoded)" : encoded
    }
}

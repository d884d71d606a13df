// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import LatchkeyCommands
internal import LinuxSystem
internal import SecretScan

/// A file with the findings that were accepted. It has no secret, and nothing that helps to guess one.
struct LintBaseline {
    /// The file's content.
    private struct Content: Codable {
        struct Finding: Codable {
            let fingerprint: String
            let kind: String
            let file: String
        }

        let version: Int
        let findings: [Finding]
    }

    private static let version = 1
    private static let maxLength = 64 << 20

    private let content: Content
    private let fingerprints: Set<String>

    init(_ findings: [LintFinding]) {
        content = Content(
            version: Self.version,
            findings: findings.map {
                Content.Finding(
                    fingerprint: $0.fingerprint, kind: $0.id, file: $0.place.names.joined(separator: " > "))
            })
        fingerprints = Set(findings.map(\.fingerprint))
    }

    init(reading path: FilePath) throws(CommandFailure) {
        let bytes: [UInt8]?
        do throws(SystemError) { bytes = try BoundedFile.read(path, limit: Self.maxLength) } catch {
            throw .parameter(error.description)
        }
        guard let bytes else {
            throw .parameter(
                "the baseline \(path) does not exist", hint: "latchkey lint --write-baseline FILE writes one")
        }
        guard let content = try? JSONDecoder().decode(Content.self, from: Data(bytes)) else {
            throw .parameter("\(path) is no baseline of latchkey lint")
        }
        guard content.version == Self.version else {
            throw .parameter(
                "\(path) is a baseline of version \(content.version); this program reads version \(Self.version)")
        }
        self.content = content
        fingerprints = Set(content.findings.map(\.fingerprint))
    }

    func contains(_ finding: LintFinding) -> Bool { fingerprints.contains(finding.fingerprint) }

    /// Writes a new file; an existing one is not replaced.
    func write(to path: FilePath) throws(CommandFailure) {
        guard let text = path.text else { throw .parameter("the path \(path) is not UTF-8") }
        let json = Array(try JSONText.of(content).string.utf8)
        do throws(SystemError) { try NewFile.create(text, content: json, mode: 0o644) } catch {
            throw .parameter(error.description, hint: "remove the file first, to accept all findings again")
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory
internal import SecretScan

/// The secrets that a migration moves, and the findings that stay.
struct MigrationPlan {
    /// A secret that is moved.
    struct Value {
        let finding: LintFinding
        /// The bytes of the file.
        let range: Range<Int>
        let secret: SharedSecret
        let reference: ItemReference
    }

    struct File {
        let path: FilePath
        /// As it is shown.
        let name: String
        let file: MigratedFile
        /// In the order of their positions. They do not overlap.
        let values: [Value]
    }

    private(set) var files: [File] = []
    /// The findings that stay, with the reason.
    private(set) var staying: [(finding: LintFinding, reason: String)] = []
    private(set) var problems: [ScanProblem]
    private let service: String?

    /// - Parameters:
    ///   - report: of a scan of files. Each file with a secret that can be replaced is read again.
    ///   - service: of the new items; nil for the name of the folder of each file.
    init(_ report: LintReport, service: String?, _ items: inout MigratedItems) throws(KeychainError) {
        (self.service, problems) = (service, report.problems)
        var (paths, findings): ([FilePath], [FilePath: [LintFinding]]) = ([], [:])
        for finding in report.findings {
            guard case .possible = finding.replacement, let path = finding.path else {
                stay(finding)
                continue
            }
            if findings[path] == nil { paths.append(path) }
            findings[path, default: []].append(finding)
        }
        for path in paths {
            let name = findings[path]?.first?.place.names.first ?? path.description
            do throws(KeychainError) {
                try plan(path, name, findings[path] ?? [], &items)
            } catch {
                // Without the keychain nothing can move; the names of one file may be too many.
                guard error.status == .duplicateItem else { throw error }
                problems.append(ScanProblem(names: [name], reason: error.description))
            }
        }
    }

    var count: Int { files.reduce(0) { $0 + $1.values.count } }

    private mutating func stay(_ finding: LintFinding) {
        guard case .impossible(let reason) = finding.replacement else { return }
        staying.append((finding, reason))
    }

    private mutating func plan(
        _ path: FilePath, _ name: String, _ findings: [LintFinding], _ items: inout MigratedItems
    ) throws(KeychainError) {
        let read: (file: MigratedFile, content: [UInt8])
        do throws(KeychainError) { read = try MigratedFile.read(path) } catch {
            problems.append(ScanProblem(names: [name], reason: error.description))
            return
        }
        // The positions are those of the bytes that were read now.
        let found = SecretScanner().scan(read.content, name: name).findings.map(LintFinding.init)
        let wanted = Set(findings.map(\.fingerprint))
        var values: [Value] = []
        for finding in found where wanted.contains(finding.fingerprint) {
            guard case .possible(let range) = finding.replacement else { continue }
            guard values.allSatisfy({ !$0.range.overlaps(range) }) else {
                staying.append((finding, "it is in the text of another secret"))
                continue
            }
            let secret = SharedSecret(copying: read.content[range])
            let reference = try items.reference(
                to: secret, service: service ?? Self.service(of: path),
                account: finding.name.isEmpty ? finding.id : finding.name)
            values.append(Value(finding: finding, range: range, secret: secret, reference: reference))
        }
        let missing = wanted.subtracting(found.map(\.fingerprint))
        if !missing.isEmpty {
            problems.append(ScanProblem(names: [name], reason: "it was changed while it was scanned; scan it again"))
        }
        values.sort { $0.range.lowerBound < $1.range.lowerBound }
        if !values.isEmpty { files.append(File(path: path, name: name, file: read.file, values: values)) }
    }

    /// The name of the folder of a file, or of the file in a home directory, without points at the beginning.
    private static func service(of path: FilePath) -> String {
        let path = AbsolutePath.of(path)
        let folder = path.parent == SecureEnvironment.path(of: "HOME") ? nil : path.parent?.lastComponent
        let name = folder == "." || folder == ".." ? nil : folder
        let text = (name ?? path.lastComponent ?? "file").description
        let trimmed = text.drop { $0 == "." }
        return trimmed.isEmpty ? text : String(trimmed)
    }
}

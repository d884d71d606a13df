// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import FileProtection
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem

extension ProtectCommand {
    /// `latchkey protect status`.
    struct Status: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "status", abstract: "Show the class of files, whether they open now, and damaged headers.",
            discussion: """
                Exits with 0 if every file is whole, also while its class is closed; otherwise with the status of the \
                first problem, as the command that opens that file does.

                EXAMPLES:
                  latchkey protect status notes.txt
                  latchkey protect status --recursive --json Documents
                """)

        @Argument(help: ArgumentHelp("The files and directories.", valueName: "file"), completion: .file())
        var paths: [FilePath]

        @Flag(name: .shortAndLong, help: "Include everything below directories.")
        var recursive = false

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup var passcode: PasscodeOptions

        func run(in session: CommandSession) throws(CommandFailure) {
            let keys = try passcode.fileKeys(in: session)
            let tree = FileTree(paths, isRecursive: recursive, ownFiles: .skipped)
            var reports: [ProtectedFileReport] = []
            var failure: KeychainError?
            while let entry = tree.next() {
                let report = ProtectedFileReport(entry, keys)
                if let error = report.error, failure == nil { failure = error }
                if json { reports.append(report) } else { try session.write(report.line) }
            }
            if json { try session.write(JSONText.of(reports)) }
            if let failure { throw .reported(failure.status.rawValue) }
        }
    }
}

/// The report of `latchkey protect status` about a file, in the shape of its JSON.
struct ProtectedFileReport: Encodable {
    var path: String
    /// `protected`, `plain`, `skipped` or `failed`.
    var state: String
    var protection: String?
    var accessGroup: String?
    /// The generation of the class key that wraps the file's key.
    var generation: UInt32?
    var length: UInt64?
    /// Whether it opens now; absent for a plain file.
    var opens: Bool?
    /// Why it does not open, or the problem of a file that opens.
    var problem: String?
    /// The problem of the file, other than a closed class; not part of the JSON.
    private(set) var error: KeychainError?

    private enum CodingKeys: String, CodingKey {
        case path, state, protection, accessGroup, generation, length, opens, problem
    }

    init(_ entry: FileTree.Entry, _ keys: SessionFileKeys) {
        switch entry {
        case .other(let path, let reason):
            (self.path, state, problem, error) = (path.description, "skipped", reason, nil)
        case .failure(let path, let cause):
            (self.path, state, problem, error) = (
                path.description, "failed", cause.description, KeychainError(ofFile: cause)
            )
        case .file(let file):
            path = file.path.description
            do throws(FileProtectionError) {
                let descriptor = try mapSystemErrors { () throws(SystemError) in
                    try file.directory.open(file.name, flags: 0)
                }
                let record = try ProtectedContainer.keyRecord(of: descriptor, path: path)
                (state, error) = ("protected", nil)
                protection = record.binding.protection.name
                accessGroup = record.binding.group.name
                generation = record.binding.generation
                open(descriptor, keys)
            } catch .notProtected {
                (state, error) = ("plain", nil)
            } catch {
                let found = KeychainError(error, path: path)
                (state, self.error, problem) = ("failed", found, found.problem)
            }
        }
    }

    private mutating func open(_ descriptor: borrowing OwnedDescriptor, _ keys: SessionFileKeys) {
        do throws(FileProtectionError) {
            let container = try ProtectedContainer(
                opening: try descriptor.duplicate(), path: path, isWritable: false, cacheCount: 0,
                cipher: { (record) throws(FileProtectionError) in try keys.cipher(for: record) })
            (length, opens) = (try container.length, true)
            if !container.isSettled { (problem, self.error) = (Self.differingHeaders, differing) }
        } catch {
            let found = KeychainError(error, path: path)
            (opens, problem) = (false, found.problem)
            if found.status != .interactionNotAllowed { self.error = found }
            if error != .headersDisagree { compareHeaders(descriptor) }
        }
    }

    /// Needs no key: a file that does not open now may not open later either.
    private mutating func compareHeaders(_ descriptor: borrowing OwnedDescriptor) {
        do throws(FileProtectionError) {
            guard try !ProtectedContainer.hasEqualHeaders(descriptor, path: path) else { return }
            problem = [problem, Self.differingHeaders].compactMap { $0 }.joined(separator: "; ")
            error = error ?? differing
        } catch {
            self.error = self.error ?? KeychainError(error, path: path)
        }
    }

    private var differing: KeychainError { KeychainError(.decode, "\(path): \(Self.differingHeaders)") }

    /// Of a file that opens, and that may not any more after the next damage.
    private static let differingHeaders =
        "its two headers differ: a change was interrupted, or one of them is damaged (latchkey protect repair)"

    var line: TerminalText {
        let what: TerminalText = protection.map { "\($0)" } ?? "\(state)"
        let group: TerminalText = accessGroup.map { "\t\($0)" } ?? ""
        let note: TerminalText = problem.map { "\t\($0)" } ?? ""
        return "\(what)\t\(path)\(group)\(note)\n"
    }
}

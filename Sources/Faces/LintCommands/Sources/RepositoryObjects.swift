// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyCommands
internal import LinuxSystem

/// Every file version in a git repository: all its objects, also those that no branch reaches.
struct RepositoryObjects: LintSource {
    let repository: FilePath
    let configuration: LintConfiguration
    let scanner: FileScanner

    func forEachReport(_ body: (LintFileReport) -> Void) throws(CommandFailure) {
        try GitProcess.requireRepository(repository)
        let names = try objectNames()
        var objects = try GitProcess(
            ["cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype) %(objectsize)"],
            in: repository)
        var contents = try BlobReader(repository, scanner)
        while let line = try objects.next() {
            let fields = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard fields.count == 3, fields[1] == "blob" else { continue }
            let object = String(fields[0])
            guard !configuration.excludes(names[object] ?? "unreachable") else {
                body(.excluded)
                continue
            }
            // The ending tells how values are written. Without a path, nothing reaches the object.
            let name = "\(object.prefix(12))/\(names[object] ?? "unreachable")"
            body(try contents.report(object, name: name))
        }
        try objects.requireSuccess()
    }

    /// The options for changes in the form `:MODE MODE OBJECT OBJECT STATUS`, zero, PATH, zero; without the settings of
    /// the repository.
    static let changes = [
        "-O/dev/null", "--raw", "--no-abbrev", "--no-relative", "--no-renames", "--no-ext-diff", "-z",
    ]

    /// A path of each object that a reference or its log reaches; one that is left out only if all are.
    private func objectNames() throws(CommandFailure) -> [String: String] {
        // gpg.program would be a program of the repository's choice.
        var list = try GitProcess(
            ["-c", "log.showRoot=true", "log", "--all", "--reflog", "-m", "--no-show-signature", "--format="]
                + Self.changes, in: repository)
        var names: [String: String] = [:]
        while let entry = try list.next(endingWith: 0) {
            guard entry.first == UInt8(ascii: ":"), let path = try list.next(endingWith: 0) else { continue }
            let fields = String(decoding: entry, as: UTF8.self).split(separator: " ")
            guard fields.count == 5 else { throw .parameter("git prints changes in an unknown form") }
            if names[String(fields[3])].map(configuration.excludes) != false {
                names[String(fields[3])] = String(decoding: path, as: UTF8.self)
            }
        }
        try list.requireSuccess()
        return names
    }
}

/// The files of the next commit of a git repository that differ from the last one.
struct StagedFiles: LintSource {
    let repository: FilePath
    let configuration: LintConfiguration
    let scanner: FileScanner

    func forEachReport(_ body: (LintFileReport) -> Void) throws(CommandFailure) {
        try GitProcess.requireRepository(repository)
        var list = try GitProcess(
            ["diff", "--cached", "--diff-filter=ACMRT"] + RepositoryObjects.changes, in: repository, usesOwnIndex: true)
        var contents = try BlobReader(repository, scanner)
        while let entry = try list.next(endingWith: 0), let name = try list.next(endingWith: 0) {
            let fields = String(decoding: entry, as: UTF8.self).split(separator: " ")
            let path = String(decoding: name, as: UTF8.self)
            guard fields.count == 5 else { throw .parameter("git prints changes in an unknown form") }
            // A submodule is a repository of its own.
            guard fields[1] != "160000" else { continue }
            guard !configuration.excludes(path) else {
                body(.excluded)
                continue
            }
            body(try contents.report(String(fields[3]), name: path))
        }
        try list.requireSuccess()
    }
}

/// Reads objects of a repository, one after the other.
private struct BlobReader: ~Copyable {
    private var process: GitProcess
    private let scanner: FileScanner

    init(_ repository: FilePath, _ scanner: FileScanner) throws(CommandFailure) {
        self.scanner = scanner
        process = try GitProcess(["cat-file", "--batch"], in: repository)
    }

    /// Scans an object.
    ///
    /// - Parameter object: its hash.
    mutating func report(_ object: String, name: String) throws(CommandFailure) -> LintFileReport {
        try process.write(object + "\n")
        guard let header = try process.next() else { throw .parameter("git has ended early") }
        let fields = String(decoding: header, as: UTF8.self).split(separator: " ")
        guard fields.count == 3, let length = Int(fields[2]), length >= 0 else {
            return LintFileReport(problem: "git cannot read it: \(String(decoding: header, as: UTF8.self))", in: name)
        }
        var (rest, content) = (length, [UInt8]())
        while rest > 0 {
            let part = try process.next(count: min(rest, 1 << 20))
            guard !part.isEmpty else { return LintFileReport(problem: "git has ended early", in: name) }
            rest -= part.count
            if content.count <= FileScanner.maxLength { content += part }
        }
        _ = try process.next(count: 1)
        guard length <= FileScanner.maxLength else {
            return LintFileReport(problem: "it has more than \(FileScanner.maxLength) bytes", in: name)
        }
        return scanner.report(content, name: name)
    }
}

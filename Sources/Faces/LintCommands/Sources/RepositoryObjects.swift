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
    }

    /// A path of each object that a reference or its log reaches.
    private func objectNames() throws(CommandFailure) -> [String: String] {
        var list = try GitProcess(["rev-list", "--objects", "--all", "--reflog"], in: repository)
        var names: [String: String] = [:]
        while let line = try list.next() {
            let text = String(decoding: line, as: UTF8.self)
            guard let space = text.firstIndex(of: " ") else { continue }
            names[String(text[..<space])] = String(text[text.index(after: space)...])
        }
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
            ["diff", "--cached", "--name-only", "--no-ext-diff", "--diff-filter=ACMRT", "-z"], in: repository)
        var contents = try BlobReader(repository, scanner)
        while let name = try list.next(endingWith: 0) {
            let path = String(decoding: name, as: UTF8.self)
            guard !path.isEmpty else { continue }
            guard !configuration.excludes(path) else {
                body(.excluded)
                continue
            }
            guard !path.contains("\n"), path.utf8.elementsEqual(name) else {
                body(LintFileReport(problem: "the name has a line end, or is not UTF-8", in: path))
                continue
            }
            body(try contents.report(":\(path)", name: path))
        }
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
    /// - Parameter object: its hash, or `:PATH` for a staged file.
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

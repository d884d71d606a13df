// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyCommands
internal import LinuxSystem

/// The files that a scan looks at.
protocol LintSource {
    /// Calls `body` with the report of each file.
    ///
    /// - Throws: if there is nothing that can be scanned at all. The failure of one file is a problem in its report.
    func forEachReport(_ body: (LintFileReport) -> Void) throws(CommandFailure)
}

/// Files, and those below folders.
struct TreeFiles: LintSource {
    let paths: [FilePath]
    let configuration: LintConfiguration
    let scanner: FileScanner
    /// Whether the drafts of killed migrations are removed.
    let removesDrafts: Bool

    func forEachReport(_ body: (LintFileReport) -> Void) throws(CommandFailure) {
        let workingDirectory = FilePath.workingDirectory
        let tree = FileTree(
            paths, isRecursive: true, ownFiles: removesDrafts ? .skippedWithoutDrafts : .listed,
            excluding: Self.kernelDirectories,
            limiting: [".git": Self.repositoryFiles])
        while let entry = tree.next() {
            switch entry {
            case .file(let file):
                let name = file.path.relative(to: workingDirectory).description
                guard !configuration.excludes(name) else {
                    body(.excluded)
                    continue
                }
                do throws(SystemError) {
                    var report = try scanner.report(file, name: name)
                    report.setPath(file.path)
                    body(report)
                } catch {
                    body(LintFileReport(problem: error.description, in: name))
                }
            // A link has the content of another file, and a device or a pipe none.
            case .other(let path, let reason):
                guard paths.contains(path) else { continue }
                body(LintFileReport(problem: "it is no file: \(reason)", in: path.description))
            case .failure(let path, let error):
                let name = path.relative(to: workingDirectory).description
                body(LintFileReport(problem: error.description, in: name))
            }
        }
    }

    /// The files of a repository that are no objects, and may have passwords in URLs.
    private static let repositoryFiles: Set<FilePath> = ["config", "FETCH_HEAD"]

    /// Files of the kernel: some have no end, and reading others changes the machine.
    private static var kernelDirectories: Set<FileStatus.Identity> {
        Set(["/proc", "/sys", "/dev"].compactMap { (try? FileStatus.of($0))?.map(\.identity) ?? nil })
    }
}

extension FilePath {
    static var workingDirectory: FilePath? { AbsolutePath.of("a" as FilePath).parent }

    /// The path from a directory, if it is below it, without `./`: the same file has one name in every report.
    func relative(to directory: FilePath?) -> FilePath {
        if hasPrefix("./") { return FilePath(bytes: bytes.dropFirst(2).drop { $0 == 0x2F }) }
        guard let directory, bytes.starts(with: directory.bytes + [0x2F]) else { return self }
        return FilePath(bytes: bytes.dropFirst(directory.bytes.count + 1))
    }
}

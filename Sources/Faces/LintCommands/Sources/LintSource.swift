// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyCommands
internal import LinuxSystem
internal import SecretScan

/// The files that a scan looks at.
protocol LintSource {
    /// Calls `body` with the report of each file.
    ///
    /// - Throws: if there is nothing that can be scanned at all. The failure of one file is a problem in its report.
    func forEachReport(_ body: (ScanReport) -> Void) throws(CommandFailure)
}

/// Files, and those below folders.
struct TreeFiles: LintSource {
    let paths: [FilePath]

    func forEachReport(_ body: (ScanReport) -> Void) throws(CommandFailure) {
        let (scanner, workingDirectory) = (SecretScanner(), FilePath.workingDirectory)
        let tree = FileTree(
            paths, isRecursive: true, removesDrafts: false, excluding: Self.kernelDirectories, skipping: [".git"])
        while let entry = tree.next() {
            switch entry {
            case .file(let file):
                let name = file.path.relative(to: workingDirectory).description
                do throws(SystemError) {
                    let descriptor = try file.directory.open(file.name, flags: 0)
                    body(try scanner.scan(descriptor, name: name))
                } catch {
                    body(ScanReport(findings: [], problems: [ScanProblem(names: [name], reason: error.description)]))
                }
            // A link has the content of another file, and a device or a pipe none.
            case .other: continue
            case .failure(let path, let error):
                let name = path.relative(to: workingDirectory).description
                body(ScanReport(findings: [], problems: [ScanProblem(names: [name], reason: error.description)]))
            }
        }
    }

    /// Files of the kernel: some have no end, and reading others changes the machine.
    private static var kernelDirectories: Set<FileStatus.Identity> {
        Set(["/proc", "/sys", "/dev"].compactMap { (try? FileStatus.of($0))?.map(\.identity) ?? nil })
    }
}

extension FilePath {
    static var workingDirectory: FilePath? { AbsolutePath.of("a" as FilePath).parent }

    /// The path from a directory, if it is below it, without `./`: the same file has one name in every report.
    func relative(to directory: FilePath?) -> FilePath {
        if hasPrefix("./") { return FilePath(bytes: bytes.dropFirst(2)) }
        guard let directory, bytes.starts(with: directory.bytes + [0x2F]) else { return self }
        return FilePath(bytes: bytes.dropFirst(directory.bytes.count + 1))
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// Finds protected files with damaged headers, without a key.
struct ProtectedFileCheck {
    private var count = 0
    private var differing: [String] = []
    private var failures: [KeychainError] = []

    /// - Parameter paths: files, and directories with everything below them.
    init(_ paths: [FilePath]) {
        let tree = FileTree(paths, isRecursive: true, ownFiles: .skipped)
        while let entry = tree.next() {
            switch entry {
            case .other: break
            case .failure(_, let error): failures.append(KeychainError(ofFile: error))
            case .file(let file): check(file)
            }
        }
    }

    private mutating func check(_ file: FileTree.File) {
        let path = file.path.description
        do throws(FileProtectionError) {
            let descriptor = try mapSystemErrors { () throws(SystemError) in
                try file.directory.open(file.name, flags: 0)
            }
            if try !ProtectedContainer.hasEqualHeaders(descriptor, path: path) { differing.append(path) }
            count += 1
        } catch {
            guard error != .notProtected else { return }
            failures.append(KeychainError(error, path: path))
        }
    }

    var finding: KeychainFinding {
        let subject = "protected files"
        let listed =
            (differing.prefix(Self.maxListed).map { "\($0): its headers differ" })
            + failures.prefix(Self.maxListed).map(\.problem)
        let wrong = differing.count + failures.count
        guard wrong > 0 else {
            return KeychainFinding(subject, isHealthy: true, detail: "the headers of all \(count) are whole")
        }
        return KeychainFinding(
            subject, isHealthy: false,
            detail: "\(wrong) of \(count + failures.count): "
                + listed.joined(separator: "; "),
            hint: differing.isEmpty
                ? failures.first?.hint
                : "close them in other programs, then latchkey protect repair FILE; latchkey protect status lists all")
    }

    private static let maxListed = 5
}

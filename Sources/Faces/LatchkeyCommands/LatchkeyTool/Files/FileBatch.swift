// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// Converts many files on several threads, with progress. A failure is reported, and the other files
/// are converted all the same.
struct FileBatch {
    let session: CommandSession
    let dryRun: Bool
    let isJSON: Bool
    /// The verb for each outcome of a file, for messages.
    let verbs: [FileConversion.Outcome: String]

    /// The result of a batch, in the shape of its JSON.
    struct Report: Encodable {
        var files = 0
        var changed = 0
        var unchanged = 0
        var skipped = 0
        var failed = 0
        var bytes: UInt64 = 0
        var dryRun = false
    }

    private struct State {
        var report = Report()
        var failure: KeychainError?
        var directories: [ObjectIdentifier: OpenDirectory] = [:]
    }

    /// - Throws: the first failure; it is already reported.
    func run(
        _ tree: FileTree,
        _ convert:
            @escaping @Sendable (FileTree.File, FileProgress) throws(FileProtectionError) -> FileConversion.Outcome
    ) throws(CommandFailure) {
        let state = SystemMutex(State())
        let output = BatchOutput(session.io, dryRun: dryRun, isQuiet: isJSON || session.isQuiet)
        let progress = FileProgress(output)
        let source = FileTreeSource(tree)
        let verbs = verbs
        WorkerThreads.forEach(threads: WorkerThreads.processorCount, next: { source.next() }) { entry in
            switch entry {
            case .other(let path, let reason):
                state.withLock { $0.report.skipped += 1 }
                output.skipped(path, reason)
            case .failure(let path, let error): Self.fail(path, KeychainError(ofFile: error), state, output)
            case .file(let file):
                do throws(FileProtectionError) {
                    let outcome = try convert(file, progress)
                    progress.fileEnded()
                    state.withLock { state in
                        state.report.files += 1
                        if outcome == .unchanged { state.report.unchanged += 1 } else { state.report.changed += 1 }
                        state.directories[ObjectIdentifier(file.directory)] = file.directory
                        if state.directories.count > Self.maxDirectories { Self.synchronize(&state) }
                    }
                    output.done(file.path, verbs[outcome])
                } catch {
                    Self.fail(file.path, KeychainError(error, path: file.path.description), state, output)
                }
            }
        }
        // The new names are durable when the command ends.
        if !dryRun { state.withLock { Self.synchronize(&$0) } }
        progress.end()
        try finish(state.withLock { ($0.report, $0.failure) }, progress.bytes)
    }

    private func finish(_ result: (Report, KeychainError?), _ bytes: UInt64) throws(CommandFailure) {
        var (report, failure) = result
        (report.bytes, report.dryRun) = (bytes, dryRun)
        if isJSON { try session.write(JSONText.of(report)) }
        if let failure { throw .reported(failure.status.rawValue) }
    }

    private static func synchronize(_ state: inout State) {
        // A failure is no loss: the old or the new name is there after a crash.
        for directory in state.directories.values { try? directory.synchronize() }
        state.directories = [:]
    }

    private static func fail(
        _ path: FilePath, _ error: KeychainError, _ state: borrowing SystemMutex<State>, _ output: BatchOutput
    ) {
        state.withLock { state in
            state.report.failed += 1
            if state.failure == nil { state.failure = error }
        }
        output.failed(path, error)
    }

    private static let maxDirectories = 64
}

/// A tree of files for several threads: it is safe because WorkerThreads calls ``next()`` by one
/// thread at a time.
private final class FileTreeSource: @unchecked Sendable {
    private let tree: FileTree

    init(_ tree: FileTree) { self.tree = tree }

    func next() -> FileTree.Entry? { tree.next() }
}

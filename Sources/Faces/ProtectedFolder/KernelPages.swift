// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem
internal import UserspaceFileSystem

/// Removes the content of a folder from the kernel's cache, and makes sure that it is gone.
///
/// The kernel leaves a page that a program copies at the moment of the removal, and with it up to some
/// hundred pages of the same folio; it does not say so. A program that reads a file in a loop could keep
/// its content in the cache that way, and read it, as long as it runs.
final class KernelPages: Sendable {
    private let nodes: NodeTable
    private let session: FileSystemSession
    private let reporter: FolderReporter
    /// Whether files that programs have open keep their pages: those of class B are read after the lock, too.
    private let keepsUsed: Bool
    private let state = SystemMutex(State())

    private struct State {
        /// Whether pages are to be removed.
        var isClosed = false
        /// Counts the reasons to look at all files again.
        var number = 0
        /// Whether a thread removes pages.
        var isRunning = false
    }

    init(of operations: FolderOperations, _ session: FileSystemSession) {
        (nodes, reporter, self.session) = (operations.nodes, operations.reporter, session)
        keepsUsed = operations.secret.keepsNames
    }

    /// Ends a removal that runs: programs may read again.
    func keep() { state.withLock { $0.isClosed = false } }

    /// Removes all pages, on another thread, until they are gone, or until ``keep()``.
    func remove() {
        state.withLock { $0.isClosed = true }
        guard let number = start() else { return }
        report(removeOnce(number))
    }

    /// Removes the pages of a file that no program has open any more. The kernel waits for this thread, so the thread
    /// must not ask the kernel: without another thread, the pages stay, and are reported.
    func fileWasClosed() {
        guard keepsUsed, state.withLock({ $0.isClosed }), start() != nil else { return }
        report(nodes.all.map(\.node).filter { node in !node.isUsed && !node.shown.withLock { $0.isEmpty } })
    }

    /// Removes pages on another thread.
    ///
    /// - Returns: nil; the number of the pending removal if there is no thread.
    private func start() -> Int? {
        let (number, starts) = state.withLock { state -> (Int, Bool) in
            state.number += 1
            // The thread that runs sees the new number.
            defer { state.isRunning = true }
            return (state.number, !state.isRunning)
        }
        guard starts, !BackgroundThread.run({ [self] in run() }) else { return nil }
        state.withLock { $0.isRunning = false }
        return number
    }

    private func run() {
        var (last, attempt, kept) = (0, 0, [FolderNode]())
        while let number = next(after: last, isDone: kept.isEmpty) {
            if number != last { (last, attempt) = (number, 0) }
            kept = removeOnce(number)
            guard !kept.isEmpty, isCurrent(number) else { continue }
            if attempt >= Self.firstAttempts { report(kept) }
            usleep(attempt < Self.firstAttempts ? 1000 << UInt32(attempt) : Self.pause)
            attempt += 1
        }
    }

    /// Returns the number of the next removal of pages; nil at the end.
    private func next(after last: Int, isDone: Bool) -> Int? {
        state.withLock { state in
            guard state.isClosed, session.isServing, state.number != last || !isDone else {
                state.isRunning = false
                return nil
            }
            return state.number
        }
    }

    private func isCurrent(_ number: Int) -> Bool { state.withLock { $0.isClosed && $0.number == number } }

    /// - Returns: the files with a page that the kernel still has, or was not asked about because the number is not the
    ///   present one any more.
    private func removeOnce(_ number: Int) -> [FolderNode] {
        nodes.all.map(\.node).filter { node in
            guard isCurrent(number), !keepsUsed || !node.isUsed else { return false }
            // Parts that are read from now on are verified the next time.
            let parts = node.shown.withLock { $0.take() }
            guard !parts.isEmpty else { return false }
            session.forgetContent(of: node.number)
            // Each part is many questions.
            let kept = parts.filter { !isCurrent(number) || session.hasContent(of: node.number, in: $0) }
            node.shown.withLock { shown in
                for part in kept { shown.insert(part.lowerBound, count: part.count) }
            }
            return !kept.isEmpty
        }
    }

    private func report(_ kept: [FolderNode]) {
        for node in kept { reporter.report(.keptPages(stored: nodes.link(of: node)?.stored ?? "(removed)")) }
    }

    /// Before the first report. They wait for a quarter of a second together, in most cases for a few milliseconds.
    private static let firstAttempts = 8
    /// In microseconds.
    private static let pause: UInt32 = 100_000
}

/// The parts of a file that programs have read or written, so that the kernel may have their pages.
struct ShownParts: Sendable {
    private var numbers: Set<UInt64> = []

    /// Records a part that is read or written.
    mutating func insert(_ offset: UInt64, count: Int) {
        guard count > 0 else { return }
        for number in offset / Self.size...(offset + UInt64(count) - 1) / Self.size where numbers.count < Self.maxCount
        {
            numbers.insert(number)
        }
    }

    var isEmpty: Bool { numbers.isEmpty }

    /// Removes and returns all parts.
    mutating func take() -> [Range<UInt64>] {
        defer { numbers = [] }
        return numbers.map { $0 * Self.size..<($0 + 1) * Self.size }
    }

    /// In bytes: 64 pages.
    private static let size: UInt64 = 262_144
    /// 16 GiB. If more of a file was shown, all of it is removed, and the removal of this much is verified.
    private static let maxCount = 65_536
}

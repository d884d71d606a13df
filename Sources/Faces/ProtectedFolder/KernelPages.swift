// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem
internal import Synchronization
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
    /// The number of the removal that runs; an earlier one ends.
    private let current = Atomic(0)

    init(of nodes: NodeTable, _ session: FileSystemSession, _ reporter: FolderReporter) {
        (self.nodes, self.session, self.reporter) = (nodes, session, reporter)
    }

    /// Ends a removal that runs: programs may read again.
    func keep() { current.add(1, ordering: .sequentiallyConsistent) }

    /// Removes all pages. In most cases they are gone when this returns; if programs keep some of them, the
    /// removal continues on another thread until they are gone, or until ``keep()``.
    func remove() {
        let number = current.add(1, ordering: .sequentiallyConsistent).newValue
        for attempt in 0..<Self.firstAttempts {
            guard !removeOnce().isEmpty else { return }
            usleep(1000 << UInt32(attempt))
        }
        let isRunning = BackgroundThread.run { [self] in
            while current.load(ordering: .sequentiallyConsistent) == number, session.isServing {
                let kept = removeOnce()
                guard !kept.isEmpty else { return }
                report(kept)
                usleep(Self.pause)
            }
        }
        if !isRunning { report(removeOnce()) }
    }

    /// - Returns: the files of which the kernel still has a page.
    private func removeOnce() -> [FolderNode] {
        nodes.all.map(\.node).filter { node in
            let parts = node.shown.withLock { $0.all }
            guard !parts.isEmpty else { return false }
            session.forgetContent(of: node.number)
            let kept = parts.filter { session.hasContent(of: node.number, in: $0) }
            node.shown.withLock { $0.removeAll(except: kept, of: parts) }
            return !kept.isEmpty
        }
    }

    private func report(_ kept: [FolderNode]) {
        for node in kept { reporter.report(.keptPages(stored: nodes.link(of: node)?.stored ?? "(removed)")) }
    }

    /// They wait for a quarter of a second together, in most cases for a few milliseconds.
    private static let firstAttempts = 8
    /// In microseconds.
    private static let pause: UInt32 = 100_000
}

/// The parts of a file that programs have read or written, so that the kernel may have their pages.
struct ShownParts: Sendable {
    private var numbers: Set<UInt64> = []

    /// Records what is read or written.
    mutating func insert(_ offset: UInt64, count: Int) {
        guard count > 0 else { return }
        for number in offset / Self.size...(offset + UInt64(count) - 1) / Self.size where numbers.count < Self.maxCount
        {
            numbers.insert(number)
        }
    }

    var all: [Range<UInt64>] { numbers.map { $0 * Self.size..<($0 + 1) * Self.size } }

    /// Removes the parts that the kernel does not have any more.
    mutating func removeAll(except kept: [Range<UInt64>], of parts: [Range<UInt64>]) {
        numbers.subtract(parts.map { $0.lowerBound / Self.size })
        numbers.formUnion(kept.map { $0.lowerBound / Self.size })
    }

    /// In bytes: 64 pages.
    private static let size: UInt64 = 262_144
    /// 16 GiB. Of a file of which more was shown, all is removed, and the removal of this much is verified.
    private static let maxCount = 65_536
}

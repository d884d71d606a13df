// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// Something in a store that its user should know, and that no program is told in words.
public enum FolderReport: Hashable, Sendable, CustomStringConvertible {
    /// A name that this folder has not made; it is not shown.
    case unreadableName(String)
    /// A file that is not as it was written.
    case damagedFile(stored: String, String)
    /// Changes of a file that could not be stored before the end, in most cases because the class was closed.
    case lostChanges(stored: String)
    /// A file with content that programs keep in the kernel's memory although its class is closed.
    case keptPages(stored: String)

    public var description: String {
        switch self {
        case .unreadableName(let name): "\(name) is not shown: its name is not one of this folder's"
        case .damagedFile(let stored, let problem): "\(stored) cannot be read: \(problem)"
        case .lostChanges(let stored): "changes of \(stored) are lost: they could not be stored before the end"
        case .keptPages(let stored):
            "content of \(stored) is still in the kernel's memory: a program uses it; it is removed as soon as possible"
        }
    }
}

/// Passes each report once.
final class FolderReporter: Sendable {
    private let receive: @Sendable (FolderReport) -> Void
    private let known = SystemMutex<Set<FolderReport>>([])

    init(_ receive: @escaping @Sendable (FolderReport) -> Void) { self.receive = receive }

    func report(_ report: FolderReport) {
        let isNew = known.withLock { known in
            known.count < Self.maxKnown && known.insert(report).inserted
        }
        if isNew { receive(report) }
    }

    /// Beyond this, a store is not damaged in places, but altogether.
    private static let maxKnown = 1000
}

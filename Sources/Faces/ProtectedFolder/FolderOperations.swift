// SPDX-License-Identifier: Apache-2.0

internal import CFileCalls
internal import FileProtection
internal import Glibc
internal import KeychainModel
internal import LinuxSystem
internal import UserspaceFileSystem

/// The view of a store: names and content without their protection.
final class FolderOperations: Sendable {
    let store: StoreDirectory
    let secret: FolderSecret
    let keys: any FileKeyProvider
    /// The access group of new files; nil for the first one of the program.
    let group: String?
    let nodes: NodeTable
    let reporter: FolderReporter
    /// How long the kernel may use names and attributes without asking again, in seconds.
    let timeout: Double
    let parked = ParkedNodes()
    /// Nodes with changes that no program has open, and that a closed class keeps from being stored.
    let unstored = SystemMutex<[FolderNode]>([])
    /// Called when a program has closed a file that no other program has open, while the folder is closed.
    let fileWasClosed = SystemMutex<(@Sendable () -> Void)?>(nil)

    init(
        _ store: StoreDirectory, _ secret: FolderSecret, _ keys: any FileKeyProvider, group: String?,
        timeout: Double, _ reporter: FolderReporter
    ) throws(FileSystemError) {
        self.store = store
        self.secret = secret
        self.keys = keys
        self.group = group
        self.timeout = timeout
        self.reporter = reporter
        nodes = NodeTable(root: store, try store.status)
        try Self.requireOwn(try store.status)
    }

    /// Throws unless the file belongs to the user of this process. Root reads every file, and
    /// only root sees the view then.
    static func requireOwn(_ status: stat) throws(FileSystemError) {
        let user = geteuid()
        guard user == 0 || status.st_uid == user else { throw .accessDenied }
    }

    // MARK: Stored files

    /// Calls `body` with the stored file of a node.
    func withReference<Value>(
        _ node: FolderNode, _ body: (StoreReference) throws(FileSystemError) -> Value
    ) throws(FileSystemError) -> Value {
        if let directory = node.directory {
            return try body(StoreReference(descriptor: directory.descriptor.rawValue))
        }
        if let file = node.content.withLock({ $0.file }) {
            return try body(StoreReference(descriptor: file.descriptor.value.rawValue))
        }
        let (descriptor, _) = try openStored(node, CFILECALLS_PATH_ONLY)
        return try body(StoreReference(descriptor: descriptor.value.rawValue))
    }

    /// Opens the stored file of a node by one of its names.
    func openStored(
        _ node: FolderNode, _ flags: Int32
    ) throws(FileSystemError) -> (descriptor: SharedDescriptor, stored: String) {
        // A name may change meanwhile.
        for _ in 0..<3 {
            guard let link = nodes.link(of: node) else { break }
            let directory = try link.parent.openDirectory
            do throws(FileSystemError) {
                let descriptor = try Self.open(link.stored, in: directory, flags)
                let status = try StoreDirectory.status(of: descriptor.value.rawValue)
                if UInt64(status.st_ino) == node.storeNumber { return (descriptor, link.stored) }
            } catch {
                guard error == .notFound else { throw error }
            }
        }
        throw .stale
    }

    /// A user's own file may lack the permission that this process needs, but not its user.
    private static func open(
        _ stored: String, in directory: StoreDirectory, _ flags: Int32
    ) throws(FileSystemError) -> SharedDescriptor {
        do throws(FileSystemError) {
            return SharedDescriptor(try directory.open(stored, flags))
        } catch {
            guard error == .accessDenied, flags & CFILECALLS_PATH_ONLY == 0 else { throw error }
        }
        let found = SharedDescriptor(try directory.open(stored, CFILECALLS_PATH_ONLY))
        let reference = StoreReference(descriptor: found.value.rawValue)
        let status = try reference.status
        guard status.st_uid == geteuid(), InodeAttributes.kind(ofMode: status.st_mode) == .file else {
            throw .accessDenied
        }
        try reference.setPermissions(status.st_mode & 0o7777 | 0o600)
        defer { try? reference.setPermissions(status.st_mode & 0o7777) }
        return SharedDescriptor(try directory.open(stored, flags))
    }
}

/// A descriptor in a tuple, because a tuple cannot have a noncopyable part.
final class SharedDescriptor: Sendable {
    let value: OwnedDescriptor

    init(_ value: consuming OwnedDescriptor) { self.value = value }
}

/// Nodes with an open file although no program uses it: the nodes that were looked up or closed last, and will probably
/// be opened next.
final class ParkedNodes: Sendable {
    private let nodes = SystemMutex<[FolderNode]>([])

    func park(_ node: FolderNode) {
        let surplus = nodes.withLock { nodes -> FolderNode? in
            if nodes.contains(where: { $0 === node }) { return nil }
            nodes.append(node)
            return nodes.count > Self.maxCount ? nodes.removeFirst() : nil
        }
        surplus?.content.withLock { $0.closeIfUnused() }
    }

    func closeAll() {
        let all = nodes.withLock { nodes -> [FolderNode] in
            defer { nodes = [] }
            return nodes
        }
        for node in all { node.content.withLock { $0.closeIfUnused() } }
    }

    private static let maxCount = 32
}

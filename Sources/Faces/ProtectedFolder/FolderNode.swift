// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem
internal import UserspaceFileSystem

/// A file of the store that the kernel knows.
final class FolderNode: FileHandle {
    let number: InodeNumber
    /// The number of the file in the store. Programs see it as well.
    let storeNumber: UInt64
    let kind: InodeAttributes.Kind
    /// Of a directory.
    let directory: StoreDirectory?
    /// Of a regular file.
    let content = SystemMutex(NodeContent())
    /// Of a regular file.
    let shown = SystemMutex(ShownParts())

    init(_ number: InodeNumber, storeNumber: UInt64, _ kind: InodeAttributes.Kind, _ directory: StoreDirectory?) {
        self.number = number
        self.storeNumber = storeNumber
        self.kind = kind
        self.directory = directory
    }

    /// Whether programs have the file open.
    var isUsed: Bool { content.withLock { $0.handles > 0 } }

    /// The open directory.
    var openDirectory: StoreDirectory {
        get throws(FileSystemError) {
            guard let directory else { throw FileSystemError(ENOTDIR) }
            return directory
        }
    }
}

/// A name of a node.
struct NodeLink: Sendable {
    let parent: FolderNode
    let name: FileName
    let stored: String

    func isSame(_ parent: FolderNode, _ name: FileName) -> Bool { self.parent === parent && self.name == name }
}

/// The nodes that the kernel knows, by their numbers.
///
/// A number is not used again: that of the store may be, as soon as a file is removed.
final class NodeTable: Sendable {
    private let state: SystemMutex<State>
    let root: FolderNode
    /// The file system of the store.
    private let device: UInt

    fileprivate struct State {
        var records: [InodeNumber: Record] = [:]
        var byStoreNumber: [UInt64: InodeNumber] = [:]
        var last = InodeNumber.root.rawValue
    }

    fileprivate struct Record {
        let node: FolderNode
        var lookups: UInt64
        var links: [NodeLink]
    }

    init(root directory: StoreDirectory, _ status: stat) {
        device = status.st_dev
        root = FolderNode(.root, storeNumber: UInt64(status.st_ino), .directory, directory)
        state = SystemMutex(State())
        state.withLock { state in
            state.records[.root] = Record(node: root, lookups: 1, links: [])
            state.byStoreNumber[root.storeNumber] = .root
        }
    }

    func node(_ number: InodeNumber) throws(FileSystemError) -> FolderNode {
        guard let node = state.withLock({ $0.records[number]?.node }) else { throw .stale }
        return node
    }

    /// One of the names of a node; nil if it has none any more.
    func link(of node: FolderNode) -> NodeLink? { state.withLock { $0.records[node.number]?.links.first } }

    /// Every node with its names.
    var all: [(node: FolderNode, links: [NodeLink])] {
        state.withLock { $0.records.values.map { ($0.node, $0.links) } }
    }

    /// The node of a stored file; nil if the kernel does not know it.
    func node(of status: stat) -> FolderNode? {
        state.withLock { state in
            state.byStoreNumber[UInt64(status.st_ino)].flatMap { state.records[$0]?.node }
        }
    }

    // MARK: Lookups

    /// Returns the node of a file, and counts a lookup of it.
    ///
    /// - Parameter status: that of the name now.
    func lookUp(
        _ name: FileName, _ stored: String, in parent: FolderNode, _ status: stat
    ) throws(FileSystemError) -> FolderNode {
        // Another file system that is mounted in the store is not part of it.
        guard status.st_dev == device else { throw .accessDenied }
        let kind = InodeAttributes.kind(ofMode: status.st_mode)
        let link = NodeLink(parent: parent, name: name, stored: stored)
        if let known = state.withLock({ $0.count(UInt64(status.st_ino), kind, link) }) { return known }
        let directory = kind == .directory ? try parent.openDirectory.openDirectory(stored) : nil
        if let directory { guard try directory.status.st_ino == status.st_ino else { throw .stale } }
        return state.withLock { state in
            // Another thread may have been faster.
            if let known = state.count(UInt64(status.st_ino), kind, link) { return known }
            state.last += 1
            let node = FolderNode(
                InodeNumber(rawValue: state.last), storeNumber: UInt64(status.st_ino), kind, directory)
            state.records[node.number] = Record(node: node, lookups: 1, links: [link])
            state.byStoreNumber[node.storeNumber] = node.number
            return node
        }
    }

    /// Takes back lookups.
    func takeBack(_ number: InodeNumber, lookups: UInt64) {
        state.withLock { state in
            guard let known = state.records[number]?.lookups else { return }
            state.records[number]?.lookups = known - min(known, lookups)
        }
    }

    /// Removes the node if the kernel does not know it any more.
    ///
    /// - Returns: whether it was removed.
    func removeIfForgotten(_ node: FolderNode) -> Bool {
        state.withLock { state in
            guard node.number != .root, state.records[node.number]?.lookups == 0 else { return false }
            state.records[node.number] = nil
            state.unmap(node)
            return true
        }
    }

    // MARK: Changes of names

    /// Records that a name is gone.
    ///
    /// - Parameter isLast: whether the file had no other name.
    func remove(_ name: FileName, in parent: FolderNode, _ status: stat, isLast: Bool) {
        state.withLock { state in
            guard let number = state.byStoreNumber[UInt64(status.st_ino)] else { return }
            state.records[number]?.links.removeAll { $0.isSame(parent, name) }
            if isLast, let node = state.records[number]?.node { state.unmap(node) }
        }
    }

    /// Records that the file has another name.
    func move(_ status: stat, from name: FileName, in parent: FolderNode, to link: NodeLink) {
        state.withLock { state in
            guard let number = state.byStoreNumber[UInt64(status.st_ino)] else { return }
            state.records[number]?.links.removeAll { $0.isSame(parent, name) || $0.isSame(link.parent, link.name) }
            state.records[number]?.links.append(link)
        }
    }
}

extension NodeTable.State {
    /// Counts a lookup of a known file.
    fileprivate mutating func count(
        _ storeNumber: UInt64, _ kind: InodeAttributes.Kind, _ link: NodeLink
    ) -> FolderNode? {
        guard let number = byStoreNumber[storeNumber], let node = records[number]?.node else { return nil }
        // Something else than this file system has replaced the file by one of another kind.
        guard node.kind == kind else {
            unmap(node)
            return nil
        }
        records[number]?.lookups += 1
        if records[number]?.links.contains(where: { $0.isSame(link.parent, link.name) }) == false {
            records[number]?.links.append(link)
        }
        return node
    }

    fileprivate mutating func unmap(_ node: FolderNode) {
        if byStoreNumber[node.storeNumber] == node.number { byStoreNumber[node.storeNumber] = nil }
    }
}

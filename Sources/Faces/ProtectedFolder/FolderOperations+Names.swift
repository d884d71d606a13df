// SPDX-License-Identifier: Apache-2.0

internal import CFileCalls
internal import Glibc
internal import LinuxSystem
internal import UserspaceFileSystem

/// Names and directories.
extension FolderOperations: InodeOperations {
    func lookUp(_ name: FileName, in parent: InodeNumber) throws(FileSystemError) -> EntryReply {
        let parent = try nodes.node(parent)
        return try entry(name, try secret.texts.stored(name), in: parent)
    }

    func lookUp(_ listed: ListedName, in parent: InodeNumber) -> EntryReply? {
        FileName(listed.name).flatMap { try? lookUp($0, in: parent) }
    }

    private func entry(_ name: FileName, _ stored: String, in parent: FolderNode) throws(FileSystemError) -> EntryReply
    {
        let status = try parent.openDirectory.status(of: stored)
        return try entry(name, stored, in: parent, status)
    }

    /// Returns the entry of a stored file, and counts a lookup.
    func entry(
        _ name: FileName, _ stored: String, in parent: FolderNode, _ status: stat
    ) throws(FileSystemError) -> EntryReply {
        try Self.requireOwn(status)
        let node = try nodes.lookUp(name, stored, in: parent, status)
        do throws(FileSystemError) {
            return EntryReply(node.number, try attributes(node, status), timeout: timeout)
        } catch {
            forget(node.number, lookups: 1)
            throw error
        }
    }

    func forget(_ inode: InodeNumber, lookups: UInt64) {
        guard let node = try? nodes.node(inode) else { return }
        nodes.takeBack(inode, lookups: lookups)
        node.content.withLock { removeIfUnused(node, &$0) }
    }

    /// Forgets a node that neither the kernel nor a program uses. The kernel may forget it before it
    /// closes the last handle.
    func removeIfUnused(_ node: FolderNode, _ content: inout NodeContent) {
        guard content.handles == 0, !content.hasChanges else { return }
        if nodes.removeIfForgotten(node) { content.file = nil }
    }

    func makeDirectory(
        _ name: FileName, in parent: InodeNumber, mode: UInt32, _ caller: Caller
    ) throws(FileSystemError) -> EntryReply {
        let parent = try nodes.node(parent)
        let stored = try secret.texts.stored(name)
        let directory = try parent.openDirectory
        try directory.makeDirectory(stored, mode: mode & 0o7777)
        let made = try directory.openDirectory(stored)
        try adopt(StoreReference(descriptor: made.descriptor.rawValue), mode, caller)
        return try entry(name, stored, in: parent)
    }

    func makeChannel(
        _ kind: ChannelKind, _ name: FileName, in parent: InodeNumber, mode: UInt32, _ caller: Caller
    ) throws(FileSystemError) -> EntryReply {
        let parent = try nodes.node(parent)
        let stored = try secret.texts.stored(name)
        let directory = try parent.openDirectory
        try directory.makeChannel(stored, mode: kind.bits | mode & 0o7777)
        do throws(FileSystemError) {
            let made = try directory.open(stored, CFILECALLS_PATH_ONLY)
            try adopt(StoreReference(descriptor: made.rawValue), mode, caller)
            return try entry(name, stored, in: parent)
        } catch {
            try? directory.remove(stored, isDirectory: false)
            throw error
        }
    }

    /// Gives a new file the permissions and the owner that its program expects.
    func adopt(_ reference: StoreReference, _ mode: UInt32, _ caller: Caller) throws(FileSystemError) {
        let status = try reference.status
        // A group that was inherited from the directory stays.
        let group = status.st_gid == getegid() && caller.group != status.st_gid ? caller.group : nil
        let user = status.st_uid != caller.user ? caller.user : nil
        if user != nil || group != nil { try? reference.setOwner(user, group) }
        // This process's mask may have removed permissions that the program's has not.
        if status.st_mode & 0o777 != mode & 0o777 {
            try reference.setPermissions(status.st_mode & 0o7000 | mode & 0o777)
        }
    }

    func makeSymbolicLink(
        _ name: FileName, in parent: InodeNumber, to target: [UInt8], _ caller: Caller
    ) throws(FileSystemError) -> EntryReply {
        let parent = try nodes.node(parent)
        let texts = try secret.texts
        let stored = try texts.stored(name)
        try parent.openDirectory.makeSymbolicLink(stored, to: try texts.stored(target: target))
        return try entry(name, stored, in: parent)
    }

    func target(ofSymbolicLink inode: InodeNumber) throws(FileSystemError) -> [UInt8] {
        let node = try nodes.node(inode)
        let texts = try secret.texts
        guard node.kind == .symbolicLink else { throw .invalid }
        guard let link = nodes.link(of: node) else { throw .stale }
        return try texts.target(try link.parent.openDirectory.target(of: link.stored))
    }

    func link(_ inode: InodeNumber, as name: FileName, in parent: InodeNumber) throws(FileSystemError) -> EntryReply {
        let (node, parent) = (try nodes.node(inode), try nodes.node(parent))
        let stored = try secret.texts.stored(name)
        let directory = try parent.openDirectory
        guard node.kind != .directory else { throw .notPermitted }
        try withReference(node) { (reference) throws(FileSystemError) in try reference.link(in: directory, as: stored) }
        node.content.withLock { $0.didChangeStatus() }
        return try entry(name, stored, in: parent)
    }

    func remove(_ name: FileName, in parent: InodeNumber, isDirectory: Bool) throws(FileSystemError) {
        let parent = try nodes.node(parent)
        let stored = try secret.texts.stored(name)
        let directory = try parent.openDirectory
        let status = try directory.status(of: stored)
        try directory.remove(stored, isDirectory: isDirectory)
        nodes.node(of: status)?.content.withLock { $0.didChangeStatus() }
        nodes.remove(name, in: parent, status, isLast: isDirectory || status.st_nlink <= 1)
    }

    func rename(
        _ name: FileName, in parent: InodeNumber, to newName: FileName, in newParent: InodeNumber, _ mode: RenameMode
    ) throws(FileSystemError) {
        let (parent, newParent) = (try nodes.node(parent), try nodes.node(newParent))
        let texts = try secret.texts
        let (stored, newStored) = (try texts.stored(name), try texts.stored(newName))
        let (directory, newDirectory) = (try parent.openDirectory, try newParent.openDirectory)
        let status = try directory.status(of: stored)
        let target = try newDirectory.statusIfPresent(of: newStored)
        try directory.rename(stored, to: newDirectory, newStored, mode)
        nodes.node(of: status)?.content.withLock { $0.didChangeStatus() }
        // Two names of one file both remain (rename(2)).
        guard target?.st_ino != status.st_ino else { return }
        if let target, mode != .exchanging {
            let isDirectory = InodeAttributes.kind(ofMode: target.st_mode) == .directory
            nodes.remove(newName, in: newParent, target, isLast: isDirectory || target.st_nlink <= 1)
        }
        nodes.move(
            status, from: name, in: parent, to: NodeLink(parent: newParent, name: newName, stored: newStored))
        if let target, mode == .exchanging {
            let link = NodeLink(parent: parent, name: name, stored: stored)
            nodes.move(target, from: newName, in: newParent, to: link)
        }
    }

    // MARK: Directories

    func requireNames() throws(FileSystemError) { try secret.requireNames() }

    func names(in directory: InodeNumber) throws(FileSystemError) -> [ListedName] {
        let node = try nodes.node(directory)
        let texts = try secret.texts
        var names: [ListedName] = []
        try node.openDirectory.forEachName { stored, number, mode in
            if stored.elementsEqual(".".utf8) || stored.elementsEqual("..".utf8) {
                names.append(ListedName(Array(stored), number: number, mode: mode))
            } else if let name = texts.name(stored) {
                names.append(ListedName(name.bytes, number: number, mode: mode))
            } else if !stored.starts(with: FolderSecret.reservedPrefix.utf8) {
                reporter.report(.unreadableName(String(decoding: stored, as: UTF8.self)))
            }
        }
        return names
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import Glibc
internal import LinuxSystem
internal import UserspaceFileSystem

/// Attributes, and extended attributes of users.
extension FolderOperations {
    func attributes(of inode: InodeNumber) throws(FileSystemError) -> AttributesReply {
        let node = try nodes.node(inode)
        let status = try withReference(node) { (reference) throws(FileSystemError) in try reference.status }
        return try attributes(node, status)
    }

    /// - Parameter status: of the stored file.
    func attributes(_ node: FolderNode, _ status: stat) throws(FileSystemError) -> AttributesReply {
        var attributes = InodeAttributes(status)
        switch node.kind {
        case .directory, .other: return AttributesReply(attributes, timeout: timeout)
        case .symbolicLink:
            attributes.size = FolderTexts.targetLength(stored: attributes.size)
            return AttributesReply(attributes, timeout: timeout)
        case .file: break
        }
        let (length, written, changed, isOpen) = try node.content.withLock {
            (content) throws(FileSystemError) -> (UInt64, FileTime?, FileTime, Bool) in
            let length = try self.length(node, &content, status)
            let changed = content.changed(whenStored: attributes.changed)
            return (length, content.written, changed, content.handles == 0 && content.file != nil)
        }
        if isOpen { parked.park(node) }
        attributes.size = length
        attributes.changed = changed
        guard let written else { return AttributesReply(attributes, timeout: timeout) }
        attributes.modified = written
        // Storing the changes changes the times once more.
        return AttributesReply(attributes, timeout: 0)
    }

    func change(_ changes: AttributeChanges, of inode: InodeNumber) throws(FileSystemError) -> AttributesReply {
        let node = try nodes.node(inode)
        if node.kind == .file, changes.size == nil { _ = try self.attributes(of: inode) }
        if let size = changes.size { try setLength(size, of: node) }
        try withReference(node) { (reference) throws(FileSystemError) in
            let before = try reference.status
            if let permissions = changes.permissions { try reference.setPermissions(permissions) }
            if changes.user != nil || changes.group != nil { try reference.setOwner(changes.user, changes.group) }
            if changes.accessed != nil || changes.modified != nil {
                try storeBeforeTimes(node)
                try reference.setTimes(accessed: changes.accessed, modified: changes.modified)
            }
            guard node.kind == .file else { return }
            let after = StoreStamp(try reference.status)
            node.content.withLock { content in
                content.follow(after, since: StoreStamp(before))
                content.didChangeStatus()
            }
        }
        return try attributes(of: inode)
    }

    /// Stores earlier writes, so that storing them does not change the new times.
    private func storeBeforeTimes(_ node: FolderNode) throws(FileSystemError) {
        guard node.kind == .file else { return }
        try node.content.withLock { (content) throws(FileSystemError) in
            do throws(FileProtectionError) { try content.commit() } catch { throw FileSystemError(error) }
        }
    }

    func statistics() throws(FileSystemError) -> FileSystemStatistics {
        try FileSystemStatistics(
            ofDescriptor: store.descriptor.rawValue, maxNameLength: FolderTexts.maxNameLength)
    }

    // MARK: Extended attributes

    /// Attributes of other kinds would not be protected, or have a meaning for the kernel.
    private static func isUsers(_ name: [UInt8]) -> Bool { name.starts(with: "user.".utf8) && name.count > 5 }

    func extendedAttribute(_ name: [UInt8], of inode: InodeNumber) throws(FileSystemError) -> [UInt8] {
        // The kernel asks for security.capability before each write.
        guard Self.isUsers(name) else { throw .noAttribute }
        let node = try nodes.node(inode)
        let texts = try secret.texts
        let stored = try texts.stored(attribute: name)
        let value = try withReference(node) { (reference) throws(FileSystemError) in try reference.attribute(stored) }
        return try texts.value(value, of: name)
    }

    func extendedAttributes(of inode: InodeNumber) throws(FileSystemError) -> [[UInt8]] {
        let node = try nodes.node(inode)
        guard node.kind != .symbolicLink else { return [] }
        let texts = try secret.texts
        let names = try withReference(node) { (reference) throws(FileSystemError) in try reference.attributeNames }
        return names.compactMap(texts.attribute)
    }

    func setExtendedAttribute(
        _ name: [UInt8], of inode: InodeNumber, to value: [UInt8], flags: Int32
    ) throws(FileSystemError) {
        guard Self.isUsers(name) else { throw .unsupported }
        let node = try nodes.node(inode)
        guard node.kind != .symbolicLink else { throw .notPermitted }
        let texts = try secret.texts
        let stored = try texts.stored(attribute: name)
        let sealed = try texts.stored(
            value: value, of: name, random: RandomBytes.array(count: FolderTexts.randomLength))
        try withReference(node) { (reference) throws(FileSystemError) in
            try reference.setAttribute(stored, sealed, flags: flags)
        }
        node.content.withLock { $0.didChangeStatus() }
    }

    func removeExtendedAttribute(_ name: [UInt8], of inode: InodeNumber) throws(FileSystemError) {
        guard Self.isUsers(name) else { throw .unsupported }
        let node = try nodes.node(inode)
        let stored = try secret.texts.stored(attribute: name)
        try withReference(node) { (reference) throws(FileSystemError) in try reference.removeAttribute(stored) }
        node.content.withLock { $0.didChangeStatus() }
    }
}

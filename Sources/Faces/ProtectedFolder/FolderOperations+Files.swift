// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import Glibc
internal import LinuxSystem
internal import UserspaceFileSystem

/// Handles of programs.
extension FolderOperations {
    func create(
        _ name: FileName, in parent: InodeNumber, mode: UInt32, _ flags: OpenFlags, _ caller: Caller
    ) throws(FileSystemError) -> (EntryReply, OpenedFile) {
        let parent = try nodes.node(parent)
        let stored = try secret.texts.stored(name)
        let directory = try parent.openDirectory
        let key = try FileSystemError.translating { () throws(FileProtectionError) in
            try keys.newKey(secret.protection, group: group)
        }
        let descriptor = SharedDescriptor(try directory.open(stored, O_CREAT | O_EXCL | O_RDWR, mode: mode & 0o7777))
        do throws(FileSystemError) {
            try adopt(StoreReference(descriptor: descriptor.value.rawValue), mode, caller)
            let file: OpenFile
            do throws(FileProtectionError) {
                file = try OpenFile(creating: descriptor, stored: stored, key, keys)
            } catch {
                throw FileSystemError(error)
            }
            let status = try StoreDirectory.status(of: file.descriptor.value.rawValue)
            let node = try nodes.lookUp(name, stored, in: parent, status)
            node.content.withLock { content in
                content.file = file
                content.handles += 1
                content.learn(0, at: StoreStamp(status))
                _ = content.keepsPages(at: StoreStamp(status))
            }
            let attributes = try attributes(node, status)
            return (
                EntryReply(node.number, attributes, timeout: timeout),
                OpenedFile(node, keepsCache: true, needsFlush: true)
            )
        } catch {
            try? directory.remove(stored, isDirectory: false)
            throw error
        }
    }

    func open(_ inode: InodeNumber, _ flags: OpenFlags) throws(FileSystemError) -> OpenedFile {
        let node = try nodes.node(inode)
        // Class B too, although its open files can be used after the lock.
        try secret.requireOpen()
        let keepsCache = try node.content.withLock { (content) throws(FileSystemError) -> Bool in
            let file = try prepare(node, &content, isWritable: flags.isWritable || flags.truncates)
            if flags.truncates {
                try FileSystemError.translating { () throws(FileProtectionError) in
                    try file.container.truncate(to: 0)
                }
                content.didChange()
            }
            content.handles += 1
            guard let status = try? StoreDirectory.status(of: file.descriptor.value.rawValue) else { return false }
            return content.keepsPages(at: StoreStamp(status))
        }
        return OpenedFile(node, keepsCache: keepsCache, needsFlush: flags.isWritable)
    }

    func read(
        _ handle: any FileHandle, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(FileSystemError) -> Int {
        try secret.requireNotClosed()
        let (node, file) = try file(handle)
        do throws(FileProtectionError) {
            let count = try file.read(into: buffer, at: offset)
            node.shown.withLock { $0.insert(offset, count: count) }
            return count
        } catch {
            reportDamage(error, node)
            throw FileSystemError(error)
        }
    }

    func write(_ handle: any FileHandle, _ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) {
        try secret.requireNotClosed()
        let (node, file) = try file(handle)
        do throws(FileProtectionError) {
            try file.container.write(bytes, at: offset)
            node.shown.withLock { $0.insert(offset, count: bytes.count) }
        } catch {
            reportDamage(error, node)
            throw FileSystemError(error)
        }
        node.content.withLock { $0.didChange() }
    }

    func allocate(_ handle: any FileHandle, mode: Int32, offset: UInt64, length: UInt64) throws(FileSystemError) {
        guard mode == 0 else { throw .unsupported }
        try secret.requireNotClosed()
        let (node, file) = try file(handle)
        let (end, overflows) = offset.addingReportingOverflow(length)
        guard !overflows else { throw .tooLarge }
        let isLonger = try FileSystemError.translating { () throws(FileProtectionError) in
            guard end > (try file.container.length) else { return false }
            try file.container.truncate(to: end)
            return true
        }
        if isLonger { node.content.withLock { $0.didChange() } }
    }

    func flush(_ handle: any FileHandle) throws(FileSystemError) {
        try changing(handle) { (content) throws(FileProtectionError) in try content.commit() }
    }

    func synchronize(_ handle: any FileHandle, contentOnly: Bool) throws(FileSystemError) {
        try changing(handle) { (content) throws(FileProtectionError) in
            try content.synchronize(contentOnly: contentOnly)
        }
    }

    func release(_ handle: any FileHandle) {
        if let node = handle as? FolderNode { closeHandle(node) }
    }

    func synchronize(directory: InodeNumber) throws(FileSystemError) {
        try nodes.node(directory).openDirectory.synchronize()
    }

    private func changing(
        _ handle: any FileHandle, _ body: (inout NodeContent) throws(FileProtectionError) -> Void
    ) throws(FileSystemError) {
        let (node, _) = try file(handle)
        do throws(FileProtectionError) {
            try node.content.withLock { (content) throws(FileProtectionError) in try body(&content) }
        } catch {
            throw FileSystemError(error)
        }
    }
}

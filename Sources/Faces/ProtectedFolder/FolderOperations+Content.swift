// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import Glibc
internal import LinuxSystem
internal import UserspaceFileSystem

/// The content of regular files.
extension FolderOperations {
    /// Opens the file of a node, or keeps it open.
    func prepare(
        _ node: FolderNode, _ content: inout NodeContent, isWritable: Bool
    ) throws(FileSystemError) -> OpenFile {
        if let file = content.file, file.isWritable || !isWritable {
            try FileSystemError.translating { () throws(FileProtectionError) in try file.cipher.requireOpen() }
            return file
        }
        guard node.kind == .file else { throw .invalid }
        let (descriptor, stored) = try openStored(node, isWritable ? O_RDWR : O_RDONLY)
        do throws(FileProtectionError) {
            let file = try OpenFile(descriptor, stored: stored, keys, isWritable: isWritable)
            content.file = file
            return file
        } catch {
            reportDamage(error, node)
            throw FileSystemError(error)
        }
    }

    func reportDamage(_ error: FileProtectionError, _ node: FolderNode) {
        guard error.isDamage else { return }
        reporter.report(.damagedFile(stored: nodes.link(of: node)?.stored ?? "(removed)", error.description))
    }

    /// Returns the length of a file's content.
    ///
    /// - Parameter status: of the stored file.
    func length(
        _ node: FolderNode, _ content: inout NodeContent, _ status: stat
    ) throws(FileSystemError) -> UInt64 {
        if let file = content.file, file.isWritable || content.handles > 0 {
            return try FileSystemError.translating { () throws(FileProtectionError) in try file.container.length }
        }
        let known = content.length(at: StoreStamp(status))
        do throws(FileSystemError) {
            try secret.requireOpen()
        } catch {
            // A closed file of class B can be renamed and removed. Its length is known if it was read before.
            guard secret.keepsNames else { throw error }
            return known ?? 0
        }
        if let known { return known }
        do throws(FileSystemError) {
            let file = try prepare(node, &content, isWritable: false)
            let length = try FileSystemError.translating { () throws(FileProtectionError) in
                try file.container.length
            }
            content.learn(length, at: StoreStamp(status))
            return length
        } catch {
            // A damaged file can be listed and removed; reading it fails.
            guard error == .inputOutput else { throw error }
            content.closeIfUnused()
            return 0
        }
    }

    /// Sets the length of a file.
    func setLength(_ length: UInt64, of node: FolderNode) throws(FileSystemError) {
        try node.content.withLock { (content) throws(FileSystemError) in
            let file = try prepare(node, &content, isWritable: true)
            try FileSystemError.translating { () throws(FileProtectionError) in
                try file.container.truncate(to: length)
                content.didChange()
                if content.handles == 0 { try content.commit() }
            }
            content.closeIfUnused()
        }
    }

    /// Returns the open file of a handle.
    func file(_ handle: any FileHandle) throws(FileSystemError) -> (node: FolderNode, file: OpenFile) {
        guard let node = handle as? FolderNode, let file = node.content.withLock({ $0.file }) else {
            throw .badDescriptor
        }
        return (node, file)
    }

    /// Closes a handle of a program. The last one stores the changes.
    func closeHandle(_ node: FolderNode) {
        // Nothing of a closed folder is kept for the next handle.
        let isClosed = secret.isClosed
        let (isLast, parks) = node.content.withLock { content -> (Bool, Bool) in
            content.handles -= 1
            guard content.handles == 0 else { return (false, false) }
            do throws(FileProtectionError) {
                try content.commit()
            } catch {
                if case .key = error {
                    unstored.withLock { $0.append(node) }
                    return (true, false)
                }
                // The program was told when it closed the file.
                content.loseChanges()
            }
            if isClosed || content.file?.isWritable == true { content.closeFile() }
            removeIfUnused(node, &content)
            return (true, content.file != nil)
        }
        if parks { parked.park(node) }
        if isLast, isClosed { fileWasClosed.withLock { $0 }?() }
    }

    /// Stores changes that had to wait until the class is open again.
    func storeWaiting() {
        let waiting = unstored.withLock { nodes -> [FolderNode] in
            defer { nodes = [] }
            return nodes
        }
        for node in waiting where !store(node) { unstored.withLock { $0.append(node) } }
    }

    /// Stores all changes durably, also of files that programs have open: nothing is stored after it.
    ///
    /// - Returns: the stored names of files with changes that are lost. All of them: reports have a limit.
    func storeAll() -> [String] {
        let waiting = unstored.withLock { $0 }
        var lost: Set<String> = []
        for node in nodes.all.map(\.node) + waiting where !store(node) {
            lost.insert(nodes.link(of: node)?.stored ?? "(removed)")
        }
        // New files that were closed are not durable yet.
        do throws(FileSystemError) {
            try store.synchronizeFileSystem()
        } catch {
            lost.insert("new files")
        }
        for name in lost.sorted() { reporter.report(.lostChanges(stored: name)) }
        return lost.sorted()
    }

    private func store(_ node: FolderNode) -> Bool {
        node.content.withLock { content in
            do throws(FileProtectionError) { try content.commit() } catch { return false }
            content.closeIfUnused()
            removeIfUnused(node, &content)
            return true
        }
    }
}

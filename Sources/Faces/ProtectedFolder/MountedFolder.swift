// SPDX-License-Identifier: Apache-2.0

internal import CFileCalls
public import FileProtection
internal import Glibc
public import KeychainModel
public import LinuxSystem
internal import UserspaceFileSystem

/// A directory that shows the protected files of a store to programs as plain ones.
///
/// ```
/// let folder = try MountedFolder(
///     of: "/home/me/store", at: "/home/me/plain", .complete, keys: keys) { log($0) }
/// TerminationSignals.handle { folder.unmount() }
/// folder.run()
/// ```
///
/// Names, targets of symbolic links and extended attributes are encrypted as well. The store discloses the tree of
/// directories, the approximate length of files and names, owners, permissions and times.
public final class MountedFolder: Sendable {
    let operations: FolderOperations
    private let session: FileSystemSession
    private let pages: KernelPages

    /// Mounts the view of a store. The store is opened before, so that it can be mounted over itself.
    ///
    /// - Parameters:
    ///   - protection: the class of a new store; nil for that of an existing one.
    ///   - group: the access group of new files; nil for the first one of the program.
    ///   - allowsOthers: whether programs of other users see the files, as far as the permissions of the
    ///     files allow it.
    ///   - timeout: how long the kernel may use names and attributes without asking again, in seconds:
    ///     another program's changes of the store are seen after it.
    ///   - maxThreads: how many requests of programs are answered at the same time; nil for the default.
    ///   - report: called once for each problem, on any thread.
    /// - Throws: ``FileProtectionError/key(_:)`` while the class is closed.
    public init(
        of store: FilePath, at mountPoint: FilePath, _ protection: FileProtectionClass?, group: String? = nil,
        keys: any FileKeyProvider, isReadOnly: Bool = false, allowsOthers: Bool = false, timeout: Double = 10,
        maxThreads: Int? = nil, report: @escaping @Sendable (FolderReport) -> Void
    ) throws(FileProtectionError) {
        let directory: StoreDirectory
        do throws(SystemError) {
            directory = StoreDirectory(
                try OwnedDescriptor(opening: store, flags: CFILECALLS_PATH_ONLY | O_DIRECTORY))
        } catch {
            throw .system(error)
        }
        let secret = try FolderSecret(directory, protection, group: group, keys)
        do throws(FileSystemError) {
            operations = try FolderOperations(
                directory, secret, keys, group: group, timeout: timeout, FolderReporter(report))
        } catch {
            throw .system(SystemError("open", path: store, code: error.code))
        }
        do throws(SystemError) {
            session = try FileSystemSession(
                mounting: operations, at: mountPoint, isReadOnly: isReadOnly, allowsOthers: allowsOthers,
                maxThreads: maxThreads ?? FileSystemSession.defaultThreads)
        } catch {
            throw .system(error)
        }
        let pages = KernelPages(of: operations, session)
        self.pages = pages
        operations.fileWasClosed.withLock { $0 = { [weak pages] in pages?.fileWasClosed() } }
    }

    /// The class of the folder.
    public var protection: FileProtectionClass { operations.secret.protection }

    /// Serves programs until the folder is unmounted, and stores the remaining changes.
    ///
    /// - Parameter whenUnmounted: called between both.
    /// - Returns: the stored names of files with changes that are lost.
    @discardableResult
    public func run(whenUnmounted: () -> Void = {}) -> [String] {
        session.run()
        whenUnmounted()
        return operations.storeAll()
    }

    /// Unmounts the folder; ``run()`` then returns. Programs that still use a file get errors.
    public func unmount() { session.unmount() }

    /// Removes the folder from the tree of directories, before ``run()`` was called: it waits for no answer.
    public func detach() { session.detach() }

    /// Must be called when the class of the folder has been closed or opened.
    ///
    /// When the class is closed, programs get EACCES at once, and neither this process nor the kernel has plaintext of
    /// the folder when this returns, except changes that are not stored yet, and pages that a program keeps busy.
    /// Another thread verifies whether the kernel has such pages, and removes them as soon as no program keeps them
    /// busy (``FolderReport/keptPages(stored:)``). Handles that programs have open work again when the class is open.
    public func lockStateChanged(isOpen: Bool) {
        if isOpen {
            pages.keep()
            operations.storeWaiting()
            operations.secret.setOpen(true)
            // Lengths that were not known while it was closed.
            if operations.secret.keepsNames { forgetCaches() }
        } else {
            // Requests from now on fail. Earlier requests can wait for the keychain with a lock of a node or, in the
            // kernel, of a directory. This wait must not keep the content of the kernel's caches.
            operations.secret.setOpen(false)
            forgetCaches()
            session.awaitBegunRequests()
            operations.parked.closeAll()
            for node in operations.nodes.all.map(\.node) {
                node.content.withLock { $0.file?.container.forgetContent() }
            }
            // The results of earlier requests are in the kernel's caches now.
            forgetCaches()
            pages.remove()
        }
    }

    /// Removes content, and then names, from the kernel's caches. No lock of a node is waited for; for a name
    /// the kernel waits for requests that change its directory.
    private func forgetCaches() {
        let all = operations.nodes.all
        for (node, _) in all { session.forgetContent(of: node.number) }
        for (node, links) in all {
            for link in links {
                // A directory may be the current one of a program.
                if node.kind == .directory {
                    session.expireName(link.name, in: link.parent.number)
                } else {
                    session.forgetName(link.name, in: link.parent.number)
                }
            }
        }
    }

    /// Whether a file system that a process serves is mounted here.
    public static func isMounted(_ mountPoint: FilePath) throws(SystemError) -> Bool {
        try MountPoint(mountPoint).isMounted
    }

    /// Returns the kernel's number of the mount at a directory; no process of a file system is asked. Another mount
    /// gets the number as soon as this one has ended.
    public static func mountNumber(at path: FilePath) throws(SystemError) -> UInt64 {
        // For a process that was there before, "." is below the mount. In the mount, "." is asked of the mount's
        // process, and that process may not serve yet.
        var place = AbsolutePath.of(path)
        while place.lastComponent == ".", let parent = place.parent { place = parent }
        let directory = try OwnedDescriptor(opening: place, flags: CFILECALLS_PATH_ONLY | O_DIRECTORY)
        let source = "/proc/self/fdinfo/\(directory.rawValue)"
        let text = String(
            decoding: try OwnedDescriptor(opening: source, flags: O_RDONLY).read(upTo: 4096, path: source),
            as: UTF8.self)
        let words = text.split(separator: "\n").first { $0.hasPrefix("mnt_id:") }?.split(whereSeparator: \.isWhitespace)
        guard let number = words?.last.flatMap({ UInt64($0) }) else {
            throw SystemError("get the number of the mount", path: path, code: EINVAL)
        }
        return number
    }

    /// Unmounts the folder of another process.
    public static func unmount(_ mountPoint: FilePath) throws(SystemError) { try MountPoint(mountPoint).unmount() }

    /// Detaches the mount point of a killed process.
    ///
    /// - Returns: false if there was nothing to detach.
    @discardableResult
    public static func recover(_ mountPoint: FilePath) throws(SystemError) -> Bool {
        try MountPoint(mountPoint).recover()
    }
}

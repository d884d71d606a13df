// SPDX-License-Identifier: Apache-2.0

internal import CFileCalls
internal import FileProtection
internal import Glibc
internal import LinuxSystem
internal import UserspaceFileSystem

/// An open protected file of the store.
final class OpenFile: Sendable {
    let container: ProtectedContainer
    let cipher: CipherMemory
    /// Of the same file as the container's.
    let descriptor: SharedDescriptor
    let isWritable: Bool

    init(
        _ container: ProtectedContainer, _ cipher: CipherMemory, _ descriptor: SharedDescriptor,
        isWritable: Bool
    ) {
        self.container = container
        self.cipher = cipher
        self.descriptor = descriptor
        self.isWritable = isWritable
    }

    /// Opens the file of a descriptor.
    convenience init(
        _ descriptor: SharedDescriptor, stored: String, _ keys: any FileKeyProvider, isWritable: Bool
    ) throws(FileProtectionError) {
        let cipher = CipherMemory(keys)
        let container = try ProtectedContainer(
            opening: try Self.copy(descriptor.value), path: stored, isWritable: isWritable
        ) { (record) throws(FileProtectionError) in try cipher.cipher(for: record) }
        self.init(container, cipher, descriptor, isWritable: isWritable)
    }

    /// Makes the empty file of a descriptor a protected one.
    convenience init(
        creating descriptor: SharedDescriptor, stored: String, _ key: ProvidedFileKey,
        _ keys: any FileKeyProvider
    ) throws(FileProtectionError) {
        let container = try ProtectedContainer(
            creating: try Self.copy(descriptor.value), path: stored, key.record, key.cipher)
        self.init(container, CipherMemory(keys, key.cipher), descriptor, isWritable: true)
    }

    private static func copy(_ descriptor: borrowing OwnedDescriptor) throws(FileProtectionError) -> OwnedDescriptor {
        let copy = fcntl(descriptor.rawValue, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw .system(.last("open")) }
        return OwnedDescriptor(adopting: copy)
    }

    /// Reads a part. Of a file that is read in order, the next part is fetched meanwhile.
    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(FileProtectionError) -> Int {
        if buffer.count >= Self.longRead {
            // Only a hint: where a chunk is stored depends on when it was written.
            posix_fadvise(
                descriptor.value.rawValue, off_t(clamping: offset) &+ buffer.count, Self.fetched,
                Int32(POSIX_FADV_WILLNEED))
        }
        return try container.read(into: buffer, at: offset)
    }

    /// The minimum length of a read in order. The kernel asks for 128 KiB then, unless it is set otherwise.
    private static let longRead = 65_536
    private static let fetched = 1 << 20

    /// Stores the changes on the storage device. The changes that an earlier handle has stored are there afterwards,
    /// too.
    func synchronize(contentOnly: Bool, _ setTimes: () -> Void) throws(FileProtectionError) {
        guard !isWritable else { return try container.synchronize(withAttributes: !contentOnly, setTimes: setTimes) }
        guard fsync(descriptor.value.rawValue) == 0 else { throw .system(.last("synchronise")) }
    }
}

/// The protected file of a node while it is open, and the facts that are known of it afterwards.
struct NodeContent: Sendable {
    /// The open file, shared by all handles of programs.
    var file: OpenFile?
    /// How many handles programs have.
    var handles = 0
    /// Whether there are changes that are not committed.
    private(set) var hasChanges = false
    /// When a program has written last, if that is not committed.
    private(set) var written: FileTime?
    /// When something else than the content has changed since, if the content is not committed.
    private var statusChanged: FileTime?
    /// The change time of the stored file after the last commit, and the one that programs see instead: that of the
    /// change itself, as they saw it before it was stored.
    private var stored: (changed: FileTime, shown: FileTime)?
    /// The length at a stamp of the stored file.
    private var known: (stamp: StoreStamp, length: UInt64)?
    /// The stored file when the kernel's pages were right.
    private var cachedStamp: StoreStamp?

    /// Closes the file if no program uses it and nothing is to be stored.
    mutating func closeIfUnused() {
        if handles == 0, !hasChanges { closeFile() }
    }

    /// Closes the file, so that it can be opened for writing again at once: a thread that still has a
    /// reference to it would keep its lock.
    mutating func closeFile() {
        file?.container.close()
        file = nil
    }

    // MARK: Stamps

    func length(at stamp: StoreStamp) -> UInt64? { known?.stamp == stamp ? known?.length : nil }

    mutating func learn(_ length: UInt64, at stamp: StoreStamp) { known = (stamp, length) }

    /// Whether the kernel's pages of the file are still right; records that they are from now on.
    mutating func keepsPages(at stamp: StoreStamp) -> Bool {
        defer { cachedStamp = stamp }
        return cachedStamp == stamp
    }

    /// Records that only this file system has changed the file since `before`.
    mutating func follow(_ stamp: StoreStamp, since before: StoreStamp?) {
        if let known, known.stamp == before { self.known = (stamp, known.length) }
        if cachedStamp != nil, cachedStamp == before { cachedStamp = stamp }
    }

    // MARK: Changes

    /// Records a change by a program.
    mutating func didChange() {
        hasChanges = true
        written = .now
        statusChanged = nil
    }

    /// Records a change of the owner, the permissions, the times, the names or an extended attribute.
    mutating func didChangeStatus() {
        if written != nil { statusChanged = .now }
    }

    /// Forgets changes that cannot be stored.
    mutating func loseChanges() {
        hasChanges = false
        written = nil
        statusChanged = nil
    }

    /// The change time that programs see.
    ///
    /// - Parameter time: that of the stored file.
    func changed(whenStored time: FileTime) -> FileTime {
        if let pending = statusChanged ?? written { return pending }
        if let stored, stored.changed == time { return stored.shown }
        return time
    }

    /// Stores the changes of programs, durably if the file was durable before. The stored file then has the time of the
    /// changes.
    mutating func commit() throws(FileProtectionError) {
        // While the class is closed, synchronized changes can still be finished.
        if let file, file.isWritable { try file.container.finish() }
        guard needsCommit else { return }
        try storing { (file, setTimes) throws(FileProtectionError) in
            try file.container.commit(durably: false)
            setTimes()
        }
    }

    /// Stores the changes of programs. Everything is on the storage device when this returns.
    ///
    /// - Parameter contentOnly: whether the times need not be there (fdatasync(2)).
    mutating func synchronize(contentOnly: Bool) throws(FileProtectionError) {
        guard needsCommit else {
            try file?.synchronize(contentOnly: contentOnly) {}
            return
        }
        try storing { (file, setTimes) throws(FileProtectionError) in
            try file.synchronize(contentOnly: contentOnly, setTimes)
        }
    }

    /// Also for a new file without content, and one that a killed process has left in the middle of a change.
    private var needsCommit: Bool {
        guard let file else { return false }
        return hasChanges || file.isWritable && !file.container.isSettled
    }

    /// Calls `body` to store changes. Its second argument gives the stored file its times.
    private mutating func storing(
        _ body: (OpenFile, () -> Void) throws(FileProtectionError) -> Void
    ) throws(FileProtectionError) {
        guard let file else { return }
        let former = try? StoreDirectory.status(of: file.descriptor.value.rawValue)
        let before = former.map { StoreStamp($0) }
        let shown = former.map { changed(whenStored: FileTime($0.st_ctim)) }
        let time = written ?? before?.modified
        try body(file) {
            guard let time else { return }
            let times = [timespec(tv_sec: 0, tv_nsec: CFILECALLS_TIME_OMIT), time.timespec]
            futimens(file.descriptor.value.rawValue, times)
        }
        loseChanges()
        guard let status = try? StoreDirectory.status(of: file.descriptor.value.rawValue) else { return }
        if let shown { stored = (FileTime(status.st_ctim), shown) }
        learn(try file.container.length, at: StoreStamp(status))
        follow(StoreStamp(status), since: before)
    }
}

/// Identifies a state of a stored file, so that a change by another program is noticed.
struct StoreStamp: Hashable, Sendable {
    let number: UInt64
    let size: Int64
    let modified: FileTime

    init(_ status: stat) {
        number = UInt64(status.st_ino)
        size = Int64(status.st_size)
        modified = FileTime(status.st_mtim)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A file system, as the kernel calls it (fuse(4)). Several threads call at the same time.
///
/// Names, kinds and permissions of the request are checked by the kernel before, from the attributes
/// that the file system has returned.
public protocol InodeOperations: Sendable {
    // MARK: Names

    func lookUp(_ name: FileName, in parent: InodeNumber) throws(FileSystemError) -> EntryReply
    /// The kernel takes back a number of lookups; without any, it does not use the number again.
    func forget(_ inode: InodeNumber, lookups: UInt64)
    func makeDirectory(
        _ name: FileName, in parent: InodeNumber, mode: UInt32, _ caller: Caller
    ) throws(FileSystemError) -> EntryReply
    /// Creates a pipe or a socket with a name. The kernel connects its programs; none of the bytes that they send
    /// reaches the file system.
    func makeChannel(
        _ kind: ChannelKind, _ name: FileName, in parent: InodeNumber, mode: UInt32, _ caller: Caller
    ) throws(FileSystemError) -> EntryReply
    func makeSymbolicLink(
        _ name: FileName, in parent: InodeNumber, to target: [UInt8], _ caller: Caller
    ) throws(FileSystemError) -> EntryReply
    func target(ofSymbolicLink inode: InodeNumber) throws(FileSystemError) -> [UInt8]
    func link(
        _ inode: InodeNumber, as name: FileName, in parent: InodeNumber
    ) throws(FileSystemError) -> EntryReply
    func remove(_ name: FileName, in parent: InodeNumber, isDirectory: Bool) throws(FileSystemError)
    func rename(
        _ name: FileName, in parent: InodeNumber, to newName: FileName, in newParent: InodeNumber, _ mode: RenameMode
    ) throws(FileSystemError)

    // MARK: Attributes

    func attributes(of inode: InodeNumber) throws(FileSystemError) -> AttributesReply
    func change(_ changes: AttributeChanges, of inode: InodeNumber) throws(FileSystemError) -> AttributesReply
    func extendedAttribute(_ name: [UInt8], of inode: InodeNumber) throws(FileSystemError) -> [UInt8]
    func extendedAttributes(of inode: InodeNumber) throws(FileSystemError) -> [[UInt8]]
    /// - Parameter flags: those of setxattr(2).
    func setExtendedAttribute(
        _ name: [UInt8], of inode: InodeNumber, to value: [UInt8], flags: Int32
    ) throws(FileSystemError)
    func removeExtendedAttribute(_ name: [UInt8], of inode: InodeNumber) throws(FileSystemError)
    func statistics() throws(FileSystemError) -> FileSystemStatistics

    // MARK: Files

    /// Creates a regular file and opens it.
    func create(
        _ name: FileName, in parent: InodeNumber, mode: UInt32, _ flags: OpenFlags, _ caller: Caller
    ) throws(FileSystemError) -> (EntryReply, OpenedFile)
    func open(_ inode: InodeNumber, _ flags: OpenFlags) throws(FileSystemError) -> OpenedFile
    /// Fills the buffer.
    ///
    /// - Returns: the number of bytes: fewer than the buffer has only at the end.
    func read(
        _ handle: any FileHandle, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(FileSystemError) -> Int
    /// Writes all bytes.
    func write(_ handle: any FileHandle, _ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError)
    /// Gives a file space (fallocate(2)).
    func allocate(_ handle: any FileHandle, mode: Int32, offset: UInt64, length: UInt64) throws(FileSystemError)
    /// A descriptor of the file is closed.
    func flush(_ handle: any FileHandle) throws(FileSystemError)
    /// Closes a file that ``open(_:_:)`` or ``create(_:in:mode:_:_:)`` has opened. The kernel may have taken back the
    /// lookups of the inode before.
    func release(_ handle: any FileHandle)
    /// Writes the file to the storage device (fsync(2)).
    ///
    /// - Parameter contentOnly: whether its times may be left out (fdatasync(2)).
    func synchronize(_ handle: any FileHandle, contentOnly: Bool) throws(FileSystemError)

    // MARK: Directories

    /// The names in a directory, with `.` and `..`.
    func names(in directory: InodeNumber) throws(FileSystemError) -> [ListedName]
    /// Writes the names in a directory to the storage device (fsync(2)).
    func synchronize(directory: InodeNumber) throws(FileSystemError)
    /// Throws if names that were listed before may not be passed on any more.
    func requireNames() throws(FileSystemError)
    /// Looks up a name that was listed; nil if it is gone.
    func lookUp(_ listed: ListedName, in parent: InodeNumber) -> EntryReply?
}

/// A file that programs use to talk to each other (inode(7)).
public enum ChannelKind: Sendable {
    case pipe, socket

    /// - Returns: nil for a mode of another kind of file.
    init?(mode: UInt32) {
        switch mode & S_IFMT {
        case S_IFIFO: self = .pipe
        case S_IFSOCK: self = .socket
        default: return nil
        }
    }

    /// The kind as the bits of a mode.
    public var bits: UInt32 {
        switch self {
        case .pipe: S_IFIFO
        case .socket: S_IFSOCK
        }
    }
}

/// A name of a directory's list.
public struct ListedName: Sendable {
    public let name: [UInt8]
    /// The number that programs see.
    public let number: UInt64
    /// The kind of the file; the other bits may be zero.
    public let mode: UInt32

    public init(_ name: [UInt8], number: UInt64, mode: UInt32) {
        self.name = name
        self.number = number
        self.mode = mode
    }
}

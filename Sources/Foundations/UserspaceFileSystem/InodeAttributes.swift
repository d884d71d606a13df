// SPDX-License-Identifier: Apache-2.0

public import Glibc
internal import LinuxSystem

/// A time of a file, since 1970.
public struct FileTime: Hashable, Sendable {
    public var seconds: Int
    public var nanoseconds: Int

    public init(seconds: Int, nanoseconds: Int) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    public init(_ time: timespec) { self.init(seconds: time.tv_sec, nanoseconds: time.tv_nsec) }

    public var timespec: timespec { Glibc.timespec(tv_sec: seconds, tv_nsec: nanoseconds) }

    public static var now: FileTime {
        let time = SystemTime.read(.wall)
        return FileTime(seconds: Int(clamping: time?.seconds ?? 0), nanoseconds: Int(clamping: time?.nanoseconds ?? 0))
    }
}

// MARK: Comparable

extension FileTime: Comparable {
    public static func < (first: FileTime, second: FileTime) -> Bool {
        (first.seconds, first.nanoseconds) < (second.seconds, second.nanoseconds)
    }
}

/// The attributes that stat(2) returns for a file.
public struct InodeAttributes: Hashable, Sendable {
    /// The number that programs see.
    public var number: UInt64
    /// The kind of the file and its permissions (inode(7)).
    public var mode: UInt32
    public var linkCount: UInt64
    public var user: UInt32
    public var group: UInt32
    public var size: UInt64
    /// The space that the file takes up, in units of 512 bytes.
    public var blocks: UInt64
    public var accessed: FileTime
    public var modified: FileTime
    public var changed: FileTime

    public init(_ info: stat) {
        number = UInt64(info.st_ino)
        mode = info.st_mode
        linkCount = UInt64(info.st_nlink)
        user = info.st_uid
        group = info.st_gid
        size = UInt64(max(0, info.st_size))
        blocks = UInt64(max(0, info.st_blocks))
        accessed = FileTime(info.st_atim)
        modified = FileTime(info.st_mtim)
        changed = FileTime(info.st_ctim)
    }

    public enum Kind: Sendable { case file, directory, symbolicLink, other }

    public var kind: Kind { Self.kind(ofMode: mode) }

    public static func kind(ofMode mode: UInt32) -> Kind {
        switch mode & S_IFMT {
        case S_IFREG: .file
        case S_IFDIR: .directory
        case S_IFLNK: .symbolicLink
        default: .other
        }
    }

    var stat: stat {
        var info = Glibc.stat()
        info.st_ino = UInt(number)
        info.st_mode = mode
        info.st_nlink = UInt(linkCount)
        info.st_uid = user
        info.st_gid = group
        info.st_size = Int(clamping: size)
        info.st_blocks = Int(clamping: blocks)
        info.st_blksize = Self.blockSize
        info.st_atim = accessed.timespec
        info.st_mtim = modified.timespec
        info.st_ctim = changed.timespec
        return info
    }

    /// The recommended unit for programs to read and write.
    private static let blockSize = 65_536
}

/// Attributes, and how long the kernel may use them without asking again.
public struct AttributesReply: Sendable {
    public var attributes: InodeAttributes
    /// In seconds.
    public var timeout: Double

    public init(_ attributes: InodeAttributes, timeout: Double) {
        self.attributes = attributes
        self.timeout = timeout
    }
}

/// A file that a name stands for. Each one that is returned counts as one lookup of the inode, until
/// ``InodeOperations/forget(_:lookups:)`` takes it back.
public struct EntryReply: Sendable {
    public var inode: InodeNumber
    public var attributes: AttributesReply
    /// How long the kernel may use the name without asking again, in seconds.
    public var timeout: Double

    public init(_ inode: InodeNumber, _ attributes: AttributesReply, timeout: Double) {
        self.inode = inode
        self.attributes = attributes
        self.timeout = timeout
    }
}

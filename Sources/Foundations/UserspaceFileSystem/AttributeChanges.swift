// SPDX-License-Identifier: Apache-2.0

internal import CFuse3
internal import Glibc

/// The attributes to set; nil for those that stay.
public struct AttributeChanges: Sendable {
    public enum Time: Hashable, Sendable {
        case now
        case at(FileTime)
    }

    /// The twelve permission bits.
    public var permissions: UInt32?
    public var user: UInt32?
    public var group: UInt32?
    public var size: UInt64?
    public var accessed: Time?
    public var modified: Time?

    /// - Parameter mask: the bits of `FUSE_SET_ATTR_…`.
    init(_ info: stat, mask: Int32) {
        func has(_ bit: Int32) -> Bool { mask & bit != 0 }
        permissions = has(CFUSE3_SET_MODE) ? info.st_mode & 0o7777 : nil
        user = has(CFUSE3_SET_USER) ? info.st_uid : nil
        group = has(CFUSE3_SET_GROUP) ? info.st_gid : nil
        size = has(CFUSE3_SET_SIZE) ? UInt64(max(0, info.st_size)) : nil
        accessed =
            has(CFUSE3_SET_ACCESS_TIME_NOW)
            ? .now : has(CFUSE3_SET_ACCESS_TIME) ? .at(FileTime(info.st_atim)) : nil
        modified =
            has(CFUSE3_SET_MODIFICATION_TIME_NOW)
            ? .now : has(CFUSE3_SET_MODIFICATION_TIME) ? .at(FileTime(info.st_mtim)) : nil
    }
}

/// The process that has called.
public struct Caller: Sendable {
    public let user: UInt32
    public let group: UInt32

    init(_ request: OpaquePointer) {
        let context = fuse_req_ctx(request)
        user = context?.pointee.uid ?? .max
        group = context?.pointee.gid ?? .max
    }
}

/// The effect of rename(2) on a file that has the new name.
public enum RenameMode: Sendable {
    case replacing, notReplacing, exchanging

    /// - Returns: nil for flags that are not supported.
    init?(flags: UInt32) {
        switch flags {
        case 0: self = .replacing
        case 1: self = .notReplacing  // RENAME_NOREPLACE
        case 2: self = .exchanging  // RENAME_EXCHANGE
        default: return nil
        }
    }
}

/// The flags of open(2).
public struct OpenFlags: Hashable, Sendable {
    public let rawValue: Int32

    init(rawValue: Int32) { self.rawValue = rawValue }

    public var isWritable: Bool { rawValue & O_ACCMODE != O_RDONLY }
    public var truncates: Bool { rawValue & O_TRUNC != 0 }
}

/// The object that represents an opened file until it is released.
public protocol FileHandle: AnyObject, Sendable {}

/// An opened file, as the kernel is told of it.
public struct OpenedFile: Sendable {
    public let handle: any FileHandle
    /// Whether the kernel's cache of the file is still right.
    public var keepsCache: Bool
    /// Whether closing needs ``InodeOperations/flush(_:)``.
    public var needsFlush: Bool

    public init(_ handle: any FileHandle, keepsCache: Bool, needsFlush: Bool) {
        self.handle = handle
        self.keepsCache = keepsCache
        self.needsFlush = needsFlush
    }
}

/// The result of statfs(2).
public struct FileSystemStatistics: Sendable {
    let info: statvfs

    /// The statistics of the file system that holds an open file, with another length of names.
    public init(ofDescriptor descriptor: Int32, maxNameLength: Int) throws(FileSystemError) {
        var info = statvfs()
        guard fstatvfs(descriptor, &info) == 0 else { throw .last }
        info.f_namemax = UInt(maxNameLength)
        self.info = info
    }
}

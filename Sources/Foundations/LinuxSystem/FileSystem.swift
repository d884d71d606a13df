// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
import Glibc

/// The file system that holds a directory.
public struct FileSystem: Sendable {
    /// The magic number of statfs(2).
    let type: Int64

    public init(holding path: FilePath) throws(SystemError) {
        let type = path.withCString { latchkey_filesystem_type($0) }
        guard type >= 0 else { throw .last("get the file system of", path: path) }
        self.type = type
    }

    @_disfavoredOverload
    public init(holding path: String) throws(SystemError) { try self.init(holding: FilePath(path)) }

    init(type: Int64) {
        self.type = type
    }

    /// The name of a file system that makes SQLite's write-ahead log unsafe, because its memory map is not shared
    /// between hosts (network) or not guaranteed to be (FUSE); nil for other file systems.
    public var unsafeForSharedMemory: String? {
        Self.unsafeTypes[type]
    }

    /// Whether a process serves it (FUSE).
    public var isUserspace: Bool { type == 0x6573_5546 }

    /// Whether its content is in memory and swap space only (tmpfs).
    public var isInMemory: Bool { type == 0x0102_1994 }

    /// Whether the file system at `path`, or this mount of it, is read-only (statvfs(3)).
    public static func isReadOnly(at path: String) throws(SystemError) -> Bool {
        var info = statvfs()
        guard statvfs(path, &info) == 0 else { throw .last("get the file system of", path: path) }
        return info.f_flag & UInt(ST_RDONLY) != 0
    }

    // Magic numbers: statfs(2) and linux/magic.h.
    private static let unsafeTypes: [Int64: String] = [
        0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB2", 0x0102_1997: "9P", 0x6573_5546: "FUSE",
        0x7375_7245: "Coda", 0x5346_414F: "AFS", 0x00C3_6400: "Ceph", 0x0116_1970: "GFS2", 0x7461_636F: "OCFS2",
        0x0BD0_0BD0: "Lustre",
    ]
}

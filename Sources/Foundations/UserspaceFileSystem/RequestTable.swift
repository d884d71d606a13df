// SPDX-License-Identifier: Apache-2.0

internal import CFuse3
internal import Glibc

/// The callbacks of libfuse.
///
/// They are closures of a nonisolated function: those of a program's top level belong to the main
/// actor, and end the process when another thread calls them.
enum RequestTable {
    static func make() -> fuse_lowlevel_ops {
        var table = fuse_lowlevel_ops()
        table.`init` = { _, connection in
            if let connection { RequestTable.configure(&connection.pointee) }
        }
        addNames(&table)
        addAttributes(&table)
        addExtendedAttributes(&table)
        addFiles(&table)
        addDirectories(&table)
        table.retrieve_reply = { request, cookie, _, _, bytes in
            PageQuery.receive(cookie, bytes: bytes.map { Int(fuse_buf_size($0)) } ?? 0)
            fuse_reply_none(request)
        }
        return table
    }

    private static func configure(_ connection: inout fuse_conn_info) {
        // A change of the content also changes the kernel's cache, except for another program's changes below the file
        // system. Those are noticed when a file is opened.
        connection.want &= ~(CFUSE3_AUTOMATIC_INVALIDATION | CFUSE3_WRITEBACK_CACHE | CFUSE3_SPLICING)
        connection.want |=
            connection.capable
            & (CFUSE3_EXPLICIT_INVALIDATION | CFUSE3_ATOMIC_TRUNCATION | CFUSE3_ASYNC_READ | CFUSE3_READDIRPLUS
                | CFUSE3_PARALLEL_DIRECTORY_OPERATIONS)
        connection.max_write = UInt32(FileSystemSession.maxWrite)
        connection.max_background = 64
        connection.congestion_threshold = 48
        connection.time_gran = 1
    }

    private static func addNames(_ table: inout fuse_lowlevel_ops) {
        table.lookup = { request, parent, name in
            Request.handle(request) { (request) throws(FileSystemError) in
                request.reply(try request.operations.lookUp(try FileName(of: name), in: InodeNumber(rawValue: parent)))
            }
        }
        table.forget = { request, inode, lookups in
            guard let request else { return }
            RequestTable.forget(request, [fuse_forget_data(ino: inode, nlookup: lookups)])
        }
        table.forget_multi = { request, count, list in
            guard let request else { return }
            RequestTable.forget(request, Array(UnsafeBufferPointer(start: list, count: count)))
        }
        table.mkdir = { request, parent, name, mode in
            Request.handle(request) { (request) throws(FileSystemError) in
                request.reply(
                    try request.operations.makeDirectory(
                        try FileName(of: name), in: InodeNumber(rawValue: parent), mode: mode, request.caller))
            }
        }
        table.symlink = { request, target, parent, name in
            Request.handle(request) { (request) throws(FileSystemError) in
                guard let target else { throw .invalid }
                request.reply(
                    try request.operations.makeSymbolicLink(
                        try FileName(of: name), in: InodeNumber(rawValue: parent), to: Array(text: target),
                        request.caller))
            }
        }
        table.link = { request, inode, parent, name in
            Request.handle(request) { (request) throws(FileSystemError) in
                request.reply(
                    try request.operations.link(
                        InodeNumber(rawValue: inode), as: try FileName(of: name), in: InodeNumber(rawValue: parent)))
            }
        }
        table.unlink = { request, parent, name in RequestTable.remove(request, parent, name, isDirectory: false) }
        table.rmdir = { request, parent, name in RequestTable.remove(request, parent, name, isDirectory: true) }
        table.rename = { request, parent, name, newParent, newName, flags in
            Request.handle(request) { (request) throws(FileSystemError) in
                guard let mode = RenameMode(flags: flags) else { throw .invalid }
                try request.operations.rename(
                    try FileName(of: name), in: InodeNumber(rawValue: parent),
                    to: try FileName(of: newName), in: InodeNumber(rawValue: newParent), mode)
                request.replySuccess()
            }
        }
    }

    private static func forget(_ request: OpaquePointer, _ list: [fuse_forget_data]) {
        if let context = fuse_req_userdata(request) {
            let operations = Unmanaged<OperationServer>.fromOpaque(context).takeUnretainedValue().operations
            for entry in list { operations.forget(InodeNumber(rawValue: entry.ino), lookups: entry.nlookup) }
        }
        fuse_reply_none(request)
    }

    private static func remove(
        _ request: OpaquePointer?, _ parent: UInt64, _ name: UnsafePointer<CChar>?, isDirectory: Bool
    ) {
        Request.handle(request) { (request) throws(FileSystemError) in
            try request.operations.remove(
                try FileName(of: name), in: InodeNumber(rawValue: parent), isDirectory: isDirectory)
            request.replySuccess()
        }
    }

    private static func addAttributes(_ table: inout fuse_lowlevel_ops) {
        table.getattr = { request, inode, _ in
            Request.handle(request) { (request) throws(FileSystemError) in
                request.reply(try request.operations.attributes(of: InodeNumber(rawValue: inode)))
            }
        }
        table.setattr = { request, inode, info, mask, _ in
            Request.handle(request) { (request) throws(FileSystemError) in
                guard let info else { throw .invalid }
                request.reply(
                    try request.operations.change(
                        AttributeChanges(info.pointee, mask: mask), of: InodeNumber(rawValue: inode)))
            }
        }
        table.readlink = { request, inode in
            Request.handle(request) { (request) throws(FileSystemError) in
                let target = try request.operations.target(ofSymbolicLink: InodeNumber(rawValue: inode))
                (target + [0]).withUnsafeBytes { text in
                    _ = fuse_reply_readlink(request.pointer, text.baseAddress?.assumingMemoryBound(to: CChar.self))
                }
            }
        }
        table.statfs = { request, _ in
            Request.handle(request) { (request) throws(FileSystemError) in
                var info = try request.operations.statistics().info
                fuse_reply_statfs(request.pointer, &info)
            }
        }
    }

    private static func addExtendedAttributes(_ table: inout fuse_lowlevel_ops) {
        table.getxattr = { request, inode, name, size in
            Request.handle(request) { (request) throws(FileSystemError) in
                guard let name else { throw .invalid }
                let value = try request.operations.extendedAttribute(
                    Array(text: name), of: InodeNumber(rawValue: inode))
                try request.reply(value, size: size)
            }
        }
        table.listxattr = { request, inode, size in
            Request.handle(request) { (request) throws(FileSystemError) in
                let names = try request.operations.extendedAttributes(of: InodeNumber(rawValue: inode))
                try request.reply(names.flatMap { $0 + [0] }, size: size)
            }
        }
        table.setxattr = { request, inode, name, value, size, flags in
            Request.handle(request) { (request) throws(FileSystemError) in
                guard let name else { throw .invalid }
                try request.operations.setExtendedAttribute(
                    Array(text: name), of: InodeNumber(rawValue: inode),
                    to: Array(UnsafeRawBufferPointer(start: value, count: size)), flags: flags)
                request.replySuccess()
            }
        }
        table.removexattr = { request, inode, name in
            Request.handle(request) { (request) throws(FileSystemError) in
                guard let name else { throw .invalid }
                try request.operations.removeExtendedAttribute(
                    Array(text: name), of: InodeNumber(rawValue: inode))
                request.replySuccess()
            }
        }
    }
}

extension FileName {
    /// A name that a program has given.
    init(of name: UnsafePointer<CChar>?) throws(FileSystemError) {
        guard let name = FileName(name) else { throw .invalid }
        self = name
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import CFuse3
internal import Glibc

extension RequestTable {
    static func addFiles(_ table: inout fuse_lowlevel_ops) {
        table.create = { request, parent, name, mode, info in
            RequestTable.create(request, parent, name, mode, info)
        }
        table.mknod = { request, parent, name, mode, _ in RequestTable.makeNode(request, parent, name, mode) }
        table.open = { request, inode, info in
            Request.handle(request) { (request) throws(FileSystemError) in
                guard let info else { throw .invalid }
                let flags = OpenFlags(rawValue: info.pointee.flags)
                request.reply(try request.operations.open(InodeNumber(rawValue: inode), flags), info)
            }
        }
        table.read = { request, _, size, offset, info in RequestTable.read(request, size, offset, info) }
        table.write = { request, _, data, size, offset, info in
            Request.handle(request) { (request) throws(FileSystemError) in
                guard offset >= 0 else { throw .invalid }
                let bytes = UnsafeRawBufferPointer(start: data, count: size)
                try request.operations.write(try HandleReference(info).handle, bytes, at: UInt64(offset))
                fuse_reply_write(request.pointer, size)
            }
        }
        table.fallocate = { request, _, mode, offset, length, info in
            Request.handle(request) { (request) throws(FileSystemError) in
                guard offset >= 0, length > 0 else { throw .invalid }
                try request.operations.allocate(
                    try HandleReference(info).handle, mode: mode, offset: UInt64(offset), length: UInt64(length))
                request.replySuccess()
            }
        }
        addEnds(&table)
    }

    private static func addEnds(_ table: inout fuse_lowlevel_ops) {
        table.flush = { request, _, info in
            Request.handle(request) { (request) throws(FileSystemError) in
                try request.operations.flush(try HandleReference(info).handle)
                request.replySuccess()
            }
        }
        table.release = { request, _, info in
            Request.handle(request) { (request) throws(FileSystemError) in
                request.operations.release(try HandleReference(info).take())
                request.replySuccess()
            }
        }
        table.fsync = { request, _, contentOnly, info in
            Request.handle(request) { (request) throws(FileSystemError) in
                try request.operations.synchronize(try HandleReference(info).handle, contentOnly: contentOnly != 0)
                request.replySuccess()
            }
        }
    }

    private static func makeNode(
        _ request: OpaquePointer?, _ parent: UInt64, _ name: UnsafePointer<CChar>?, _ mode: UInt32
    ) {
        Request.handle(request) { (request) throws(FileSystemError) in
            let (name, parent) = (try FileName(of: name), InodeNumber(rawValue: parent))
            if let kind = ChannelKind(mode: mode) {
                return request.reply(
                    try request.operations.makeChannel(kind, name, in: parent, mode: mode, request.caller))
            }
            // A device is none of this file system's: it is mounted without devices.
            guard InodeAttributes.kind(ofMode: mode) == .file else { throw .notPermitted }
            let (entry, opened) = try request.operations.create(
                name, in: parent, mode: mode, OpenFlags(rawValue: O_RDWR), request.caller)
            request.operations.release(opened.handle)
            request.reply(entry)
        }
    }

    private static func create(
        _ request: OpaquePointer?, _ parent: UInt64, _ name: UnsafePointer<CChar>?, _ mode: UInt32,
        _ info: UnsafeMutablePointer<fuse_file_info>?
    ) {
        Request.handle(request) { (request) throws(FileSystemError) in
            guard let info else { throw .invalid }
            let (entry, opened) = try request.operations.create(
                try FileName(of: name), in: InodeNumber(rawValue: parent), mode: mode,
                OpenFlags(rawValue: info.pointee.flags), request.caller)
            request.reply(entry, opened, info)
        }
    }

    private static func read(
        _ request: OpaquePointer?, _ size: Int, _ offset: off_t, _ info: UnsafeMutablePointer<fuse_file_info>?
    ) {
        Request.handle(request) { (request) throws(FileSystemError) in
            guard offset >= 0, size <= maxRead else { throw .invalid }
            let handle = try HandleReference(info).handle
            try request.buffers.withBuffer(count: size) { (buffer) throws(FileSystemError) in
                let count = try request.operations.read(handle, into: buffer, at: UInt64(offset))
                request.reply(UnsafeRawBufferPointer(rebasing: buffer.prefix(count)))
                return count
            }
        }
    }

    /// More than the kernel reads at once.
    private static let maxRead = 16 << 20
}

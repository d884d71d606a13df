// SPDX-License-Identifier: Apache-2.0

internal import CFuse3
internal import Glibc
internal import LinuxSystem

extension RequestTable {
    static func addDirectories(_ table: inout fuse_lowlevel_ops) {
        table.opendir = { request, inode, info in
            Request.handle(request) { (request) throws(FileSystemError) in
                guard let info else { throw .invalid }
                let inode = InodeNumber(rawValue: inode)
                let listing = DirectoryListing(inode, try request.operations.names(in: inode))
                let reference = Unmanaged.passRetained(listing)
                CFuse3_set_opened(info, UInt64(UInt(bitPattern: reference.toOpaque())), 0, 1)
                if fuse_reply_open(request.pointer, info) == -ENOENT { reference.release() }
            }
        }
        table.readdir = { request, _, size, offset, info in
            RequestTable.list(request, size, offset, info, looksUp: false)
        }
        table.readdirplus = { request, _, size, offset, info in
            RequestTable.list(request, size, offset, info, looksUp: true)
        }
        table.releasedir = { request, _, info in
            Request.handle(request) { (request) throws(FileSystemError) in
                RequestTable.reference(info)?.release()
                request.replySuccess()
            }
        }
        table.fsyncdir = { request, inode, _, _ in
            Request.handle(request) { (request) throws(FileSystemError) in
                try request.operations.synchronize(directory: InodeNumber(rawValue: inode))
                request.replySuccess()
            }
        }
    }

    private static func reference(_ info: UnsafeMutablePointer<fuse_file_info>?) -> Unmanaged<DirectoryListing>? {
        guard let handle = info?.pointee.fh, let pointer = UnsafeRawPointer(bitPattern: UInt(handle)) else {
            return nil
        }
        return Unmanaged.fromOpaque(pointer)
    }

    private static func list(
        _ request: OpaquePointer?, _ size: Int, _ offset: off_t, _ info: UnsafeMutablePointer<fuse_file_info>?,
        looksUp: Bool
    ) {
        Request.handle(request) { (request) throws(FileSystemError) in
            guard let listing = reference(info)?.takeUnretainedValue(), offset >= 0, size <= 16 << 20 else {
                throw .invalid
            }
            try request.operations.requireNames()
            var reply = DirectoryReply(request, size: size, looksUp: looksUp)
            let names = try listing.names(from: Int(offset), request.operations)
            for (number, name) in names.enumerated().dropFirst(Int(offset)) {
                guard reply.append(name, in: listing.inode, next: number + 1) else { break }
            }
            reply.send()
        }
    }
}

/// The names of an opened directory, as they were when it was opened or rewound.
final class DirectoryListing: Sendable {
    let inode: InodeNumber
    private let state: SystemMutex<(names: [ListedName], isUsed: Bool)>

    init(_ inode: InodeNumber, _ names: [ListedName]) {
        self.inode = inode
        state = SystemMutex((names, false))
    }

    func names(
        from offset: Int, _ operations: any InodeOperations
    ) throws(FileSystemError) -> [ListedName] {
        let known = state.withLock { state -> [ListedName]? in
            if offset == 0, state.isUsed { return nil }
            state.isUsed = true
            return state.names
        }
        if let known { return known }
        let names = try operations.names(in: inode)
        state.withLock { $0.names = names }
        return names
    }
}

/// The answer to a request for the names of a directory.
private struct DirectoryReply {
    private let request: Request
    private let looksUp: Bool
    private let buffer: UnsafeMutableRawBufferPointer
    private var count = 0
    private var entries: [EntryReply] = []

    init(_ request: Request, size: Int, looksUp: Bool) {
        self.request = request
        self.looksUp = looksUp
        buffer = .allocate(byteCount: size, alignment: 8)
    }

    /// Adds a name.
    ///
    /// - Returns: false if there is no room.
    mutating func append(_ listed: ListedName, in directory: InodeNumber, next: Int) -> Bool {
        let isDot = listed.name == [UInt8(ascii: ".")] || listed.name == Array("..".utf8)
        let needed = size(of: listed)
        guard needed <= buffer.count - count else { return false }
        var entry = fuse_entry_param()
        entry.attr.st_ino = UInt(listed.number)
        entry.attr.st_mode = listed.mode
        if looksUp, !isDot {
            // Without a lookup the name is listed nevertheless: its number 0 says so.
            if let found = request.operations.lookUp(listed, in: directory) {
                entries.append(found)
                entry = fuse_entry_param(found)
            }
        }
        add(listed.name, &entry, next: next)
        return true
    }

    private func size(of listed: ListedName) -> Int {
        withText(listed.name) { name in
            looksUp
                ? fuse_add_direntry_plus(request.pointer, nil, 0, name, nil, 0)
                : fuse_add_direntry(request.pointer, nil, 0, name, nil, 0)
        }
    }

    private mutating func add(_ name: [UInt8], _ entry: inout fuse_entry_param, next: Int) {
        let start = buffer.baseAddress?.advanced(by: count).assumingMemoryBound(to: CChar.self)
        let room = buffer.count - count
        count += withText(name) { name in
            looksUp
                ? fuse_add_direntry_plus(request.pointer, start, room, name, &entry, off_t(next))
                : fuse_add_direntry(request.pointer, start, room, name, &entry.attr, off_t(next))
        }
    }

    private func withText(_ name: [UInt8], _ body: (UnsafePointer<CChar>?) -> Int) -> Int {
        (name + [0]).withUnsafeBytes { body($0.baseAddress?.assumingMemoryBound(to: CChar.self)) }
    }

    func send() {
        let start = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
        if fuse_reply_buf(request.pointer, start, count) == -ENOENT {
            for entry in entries { request.operations.forget(entry.inode, lookups: 1) }
        }
        buffer.deallocate()
    }
}

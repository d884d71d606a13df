// SPDX-License-Identifier: Apache-2.0

internal import CFuse3
internal import Glibc

/// A request of the kernel's. It must be answered once.
struct Request {
    let pointer: OpaquePointer
    let operations: any InodeOperations
    let buffers: BufferPool

    /// Answers a request: with the reply of `body`, or with the error that it throws.
    static func handle(_ pointer: OpaquePointer?, _ body: (Request) throws(FileSystemError) -> Void) {
        guard let pointer, let context = fuse_req_userdata(pointer) else { return }
        let server = Unmanaged<OperationServer>.fromOpaque(context).takeUnretainedValue()
        do throws(FileSystemError) {
            try body(Request(pointer: pointer, operations: server.operations, buffers: server.buffers))
        } catch {
            fuse_reply_err(pointer, error.code)
        }
    }

    var caller: Caller { Caller(pointer) }

    func replySuccess() { fuse_reply_err(pointer, 0) }

    func reply(_ entry: EntryReply) {
        var parameters = fuse_entry_param(entry)
        takeBack(entry, unless: fuse_reply_entry(pointer, &parameters))
    }

    /// - Parameter info: receives the opened file.
    func reply(_ entry: EntryReply, _ opened: OpenedFile, _ info: UnsafeMutablePointer<fuse_file_info>) {
        var parameters = fuse_entry_param(entry)
        let reference = HandleReference(opened, info)
        let outcome = fuse_reply_create(pointer, &parameters, info)
        takeBack(entry, unless: outcome)
        if outcome == -ENOENT { operations.release(reference.take()) }
    }

    /// - Parameter info: receives the opened file.
    func reply(_ opened: OpenedFile, _ info: UnsafeMutablePointer<fuse_file_info>) {
        let reference = HandleReference(opened, info)
        if fuse_reply_open(pointer, info) == -ENOENT { operations.release(reference.take()) }
    }

    /// A program that was interrupted gets no answer: the kernel then does not count the lookup.
    private func takeBack(_ entry: EntryReply, unless outcome: Int32) {
        if outcome == -ENOENT { operations.forget(entry.inode, lookups: 1) }
    }

    func reply(_ attributes: AttributesReply) {
        var info = attributes.attributes.stat
        fuse_reply_attr(pointer, &info, attributes.timeout)
    }

    func reply(_ bytes: UnsafeRawBufferPointer) {
        fuse_reply_buf(pointer, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
    }

    /// Replies to a request that asks for the value, or for its length if `size` is 0.
    func reply(_ value: [UInt8], size: Int) throws(FileSystemError) {
        if size == 0 {
            fuse_reply_xattr(pointer, value.count)
            return
        }
        guard value.count <= size else { throw FileSystemError(ERANGE) }
        value.withUnsafeBytes { reply($0) }
    }
}

/// The objects that the callbacks of a session use.
final class OperationServer: Sendable {
    let operations: any InodeOperations
    let gate = OperationGate()
    let buffers = BufferPool()

    init(_ operations: any InodeOperations) { self.operations = operations }
}

extension fuse_entry_param {
    init(_ entry: EntryReply) {
        self.init()
        ino = entry.inode.rawValue
        attr = entry.attributes.attributes.stat
        attr_timeout = entry.attributes.timeout
        entry_timeout = entry.timeout
    }
}

/// A handle in the form of a number. The kernel keeps the number between the requests for a file.
struct HandleReference {
    private let box: Unmanaged<Box>

    private final class Box {
        let handle: any FileHandle
        init(_ handle: any FileHandle) { self.handle = handle }
    }

    /// Keeps the handle until ``take()``.
    init(_ opened: OpenedFile, _ info: UnsafeMutablePointer<fuse_file_info>) {
        box = Unmanaged.passRetained(Box(opened.handle))
        let number = UInt64(UInt(bitPattern: box.toOpaque()))
        CFuse3_set_opened(info, number, opened.keepsCache ? 1 : 0, opened.needsFlush ? 0 : 1)
    }

    /// The handle of a request.
    init(_ info: UnsafeMutablePointer<fuse_file_info>?) throws(FileSystemError) {
        guard let number = info?.pointee.fh, let pointer = UnsafeRawPointer(bitPattern: UInt(number)) else {
            throw .badDescriptor
        }
        box = Unmanaged.fromOpaque(pointer)
    }

    var handle: any FileHandle { box.takeUnretainedValue().handle }

    /// Ends the reference.
    func take() -> any FileHandle { box.takeRetainedValue().handle }
}

// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
internal import Glibc

/// A file descriptor with one owner, closed when the owner is destroyed.
public struct OwnedDescriptor: ~Copyable, Sendable {
    /// The number, for use in a system call; never close it.
    public let rawValue: Int32

    /// Takes ownership of a descriptor that no other code closes.
    public init(adopting rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Opens `path` close-on-exec.
    public init(opening path: FilePath, flags: Int32, mode: UInt32 = 0o600) throws(SystemError) {
        let descriptor = path.withCString { latchkey_open($0, flags, mode) }
        guard descriptor >= 0 else { throw .last("open", path: path) }
        self.rawValue = descriptor
    }

    /// Opens a path that is text.
    @_disfavoredOverload
    public init(opening path: String, flags: Int32, mode: UInt32 = 0o600) throws(SystemError) {
        try self.init(opening: FilePath(path), flags: flags, mode: mode)
    }

    /// Opens an unnamed file in the directory, close-on-exec. Not every file system supports it.
    public init(unnamedIn directory: String, flags: Int32, mode: UInt32 = 0o600) throws(SystemError) {
        // The bits of O_TMPFILE in asm-generic/fcntl.h: the Glibc module does not export it.
        try self.init(opening: directory, flags: flags | O_DIRECTORY | 0o20000000, mode: mode)
    }

    /// Returns the descriptor to a new owner. The new owner must close it.
    public consuming func release() -> Int32 {
        let descriptor = rawValue
        discard self
        return descriptor
    }

    deinit {
        close(rawValue)
    }

    /// Writes all bytes; continues after interruptions and short writes.
    public borrowing func write(_ bytes: UnsafeRawBufferPointer, path: String) throws(SystemError) {
        var rest = bytes
        while !rest.isEmpty {
            let written = Glibc.write(rawValue, rest.baseAddress, rest.count)
            if written < 0 {
                if errno == EINTR { continue }
                throw .last("write", path: path)
            }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
        }
    }

    /// Fills `buffer` from the file's current position.
    ///
    /// - Returns: the number of bytes. It is less than the size of the buffer only at the end of the file.
    public borrowing func read(into buffer: UnsafeMutableRawBufferPointer, path: String) throws(SystemError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let got = Glibc.read(rawValue, buffer.baseAddress?.advanced(by: filled), buffer.count - filled)
            if got < 0 {
                if errno == EINTR { continue }
                throw .last("read", path: path)
            }
            if got == 0 { break }
            filled += got
        }
        return filled
    }

    /// Reads the next bytes: fewer than `count` only at the end of the file.
    public borrowing func read(upTo count: Int, path: String) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var outcome = Result<Int, SystemError>.success(0)
        bytes.withUnsafeMutableBytes { buffer in
            outcome = Result { () throws(SystemError) in try read(into: buffer, path: path) }
        }
        bytes.removeLast(count - (try outcome.get()))
        return bytes
    }

    /// Sets the mode 0600, because an unusual umask may have removed bits of it.
    borrowing func makePrivate(path: String) throws(SystemError) {
        guard fchmod(rawValue, 0o600) == 0 else { throw .last("change the mode of", path: path) }
    }

    /// Writes the file's content to the storage device before it returns (fsync(2)).
    public borrowing func synchronize(path: String) throws(SystemError) {
        guard fsync(rawValue) == 0 else { throw .last("synchronise", path: path) }
    }
}

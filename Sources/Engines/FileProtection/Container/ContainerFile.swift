// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
internal import Glibc
internal import LinuxSystem

/// The file below a container: reads and writes at positions.
protocol ContainerFile: Sendable {
    /// Locks the file for the only writer.
    ///
    /// - Throws: ``FileProtectionError/inUse``.
    func lock() throws(FileProtectionError)

    /// Lets another writer lock the file.
    func unlock()

    /// The length of the file, in bytes.
    var size: UInt64 { get throws(FileProtectionError) }

    /// Fills the buffer.
    ///
    /// - Returns: the number of bytes: fewer than the buffer has only at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileProtectionError) -> Int

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileProtectionError)

    /// Cuts the file to at most `length` bytes.
    func cut(to length: UInt64) throws(FileProtectionError)

    /// Writes the content to the storage device before it returns.
    ///
    /// - Parameter withAttributes: whether the times of the file are written as well.
    func synchronize(withAttributes: Bool) throws(FileProtectionError)
}

extension ContainerFile {
    func synchronize() throws(FileProtectionError) { try synchronize(withAttributes: false) }
}

/// The file of a descriptor.
final class OpenContainerFile: ContainerFile {
    private let path: String
    private let descriptor: OwnedDescriptor
    private let readAhead = SystemMutex(SequentialAccess(step: 1 << 20, ahead: 4 << 20))
    private let writeBehind = SystemMutex(SequentialAccess(step: 4 << 20, ahead: 0))

    /// - Throws: ``FileProtectionError/notProtected`` if it is no regular file.
    init(_ descriptor: consuming OwnedDescriptor, path: String) throws(FileProtectionError) {
        let kind: FileStatus.Kind
        do throws(SystemError) { kind = try FileStatus.of(descriptor, path: path).kind } catch { throw .system(error) }
        guard kind == .file else { throw .notProtected }
        self.descriptor = descriptor
        self.path = path
    }

    func lock() throws(FileProtectionError) {
        guard latchkey_lock_file(descriptor.rawValue, 1) == 0 else {
            guard errno == EAGAIN || errno == EACCES else { throw .system(.last("lock", path: path)) }
            throw .inUse
        }
    }

    func unlock() { latchkey_unlock_file(descriptor.rawValue) }

    var size: UInt64 {
        get throws(FileProtectionError) {
            do throws(SystemError) {
                return UInt64(max(0, try FileStatus.of(descriptor, path: path).size))
            } catch {
                throw .system(error)
            }
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileProtectionError) -> Int {
        // The next parts are read from the storage device while this one is decrypted.
        if let range = readAhead.withLock({ $0.continues(at: offset, count: buffer.count) }) {
            posix_fadvise(descriptor.rawValue, off_t(range.lowerBound), off_t(range.count), POSIX_FADV_WILLNEED)
        }
        var filled = 0
        while filled < buffer.count {
            let got = pread(
                descriptor.rawValue, buffer.baseAddress?.advanced(by: filled), buffer.count - filled,
                off_t(offset) + off_t(filled))
            if got < 0 {
                if errno == EINTR { continue }
                throw .system(.last("read", path: path))
            }
            if got == 0 { break }
            filled += got
        }
        return filled
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileProtectionError) {
        var written = 0
        while written < bytes.count {
            let put = pwrite(
                descriptor.rawValue, bytes.baseAddress?.advanced(by: written), bytes.count - written,
                off_t(offset) + off_t(written))
            if put < 0 {
                if errno == EINTR { continue }
                throw .system(.last("write", path: path))
            }
            written += put
        }
        // The storage device writes while the next parts are encrypted. synchronize() waits for it.
        if let range = writeBehind.withLock({ $0.continues(at: offset, count: bytes.count) }) {
            latchkey_start_writing(descriptor.rawValue, Int64(range.lowerBound), Int64(range.count))
        }
    }

    func cut(to length: UInt64) throws(FileProtectionError) {
        guard try size > length else { return }
        guard ftruncate(descriptor.rawValue, off_t(length)) == 0 else { throw .system(.last("truncate", path: path)) }
    }

    /// Extends the file with a hole.
    func extend(to length: UInt64) throws(FileProtectionError) {
        guard try size < length else { return }
        guard ftruncate(descriptor.rawValue, off_t(length)) == 0 else { throw .system(.last("extend", path: path)) }
    }

    func synchronize(withAttributes: Bool) throws(FileProtectionError) {
        guard (withAttributes ? fsync(descriptor.rawValue) : fdatasync(descriptor.rawValue)) == 0 else {
            throw .system(.last("synchronise", path: path))
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Glibc

/// An open plain file. It is closed with the last reference to it.
final class OpenFile {
    private let descriptor: Int32
    private let path: String

    /// Opens a file, or a directory, for reading.
    init(reading path: String) throws {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        self.path = path
        guard descriptor >= 0 else { throw failure("open") }
    }

    /// Creates a file.
    init(creating path: String) throws {
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        self.path = path
        guard descriptor >= 0 else { throw failure("create") }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Writes the first `count` of these bytes at the position.
    func write(_ bytes: [UInt8], count: Int) throws {
        var done = 0
        while done < count {
            let put = bytes.withUnsafeBytes { buffer in
                Glibc.write(descriptor, buffer.baseAddress.map { $0 + done }, count - done)
            }
            guard put > 0 else { throw failure("write") }
            done += put
        }
    }

    /// Reads bytes at an offset, fewer than the buffer holds only at the end.
    ///
    /// - Returns: how many.
    func read(into bytes: inout [UInt8], at offset: Int) throws -> Int {
        let capacity = bytes.count
        var done = 0
        while done < capacity {
            let got = bytes.withUnsafeMutableBytes { buffer in
                pread(descriptor, buffer.baseAddress.map { $0 + done }, capacity - done, off_t(offset + done))
            }
            guard got >= 0 else { throw failure("read") }
            if got == 0 { break }
            done += got
        }
        return done
    }

    /// Writes the content, or the names in a directory, to the disk.
    func synchronize() throws {
        guard fsync(descriptor) == 0 else { throw failure("synchronize") }
    }

    private func failure(_ verb: String) -> BenchmarkFailure {
        BenchmarkFailure("cannot \(verb) \(path): \(String(cString: strerror(errno)))")
    }
}

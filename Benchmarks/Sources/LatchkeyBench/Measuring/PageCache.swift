// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The kernel's cache of file contents.
enum PageCache {
    /// Reads a whole file, so that a measurement does not include reading it from the disk. The
    /// kernel may have removed the file's pages from its cache since they were written.
    static func fill(with path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw BenchmarkFailure("cannot open \(path)") }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while read(descriptor, &buffer, buffer.count) > 0 {}
    }
}

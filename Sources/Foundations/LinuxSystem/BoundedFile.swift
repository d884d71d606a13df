// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Reads whole files that others have written, within a limit.
///
/// The size from stat(2) is not used, because files of /proc have size 0 and may have no end. A
/// pipe, a device or a directory is rejected without waiting for it.
public enum BoundedFile {
    /// Returns the bytes of a regular file; nil if it does not exist.
    ///
    /// - Parameter limit: the maximum length in bytes.
    /// - Throws: EFBIG if the file is longer, EINVAL if it is not a regular file.
    public static func read(_ path: FilePath, limit: Int) throws(SystemError) -> [UInt8]? {
        let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .last("open", path: path)
        }
        return try read(OwnedDescriptor(adopting: descriptor), path: path.description, limit: limit)
    }

    @_disfavoredOverload
    public static func read(_ path: String, limit: Int) throws(SystemError) -> [UInt8]? {
        try read(FilePath(path), limit: limit)
    }

    /// Returns the bytes of an open regular file from its current position.
    public static func read(_ file: borrowing OwnedDescriptor, path: String, limit: Int) throws(SystemError) -> [UInt8]
    {
        guard try FileStatus.of(file, path: path).kind == .file else {
            throw SystemError("read", path: path, code: EINVAL, hint: "it is not a regular file")
        }
        var content: [UInt8] = []
        while true {
            let block = try file.read(upTo: blockSize, path: path)
            content += block
            guard content.count <= limit else {
                throw SystemError("read", path: path, code: EFBIG, hint: "the maximum is \(limit) bytes")
            }
            if block.count < blockSize { return content }
        }
    }

    private static let blockSize = 16 << 10
}

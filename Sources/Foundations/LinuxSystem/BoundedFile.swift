// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Files of others, read whole within a limit.
///
/// What stat(2) says of the size is not believed: files of /proc have size 0 and no end. A pipe, a device or a directory is refused without
/// waiting for it.
public enum BoundedFile {
    /// The bytes of a regular file; nil where there is none.
    ///
    /// - Parameter limit: the max length in bytes.
    /// - Throws: EFBIG where the file is longer, EINVAL where it is no regular file.
    public static func read(_ path: String, limit: Int) throws(SystemError) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .last("open", path: path)
        }
        return try read(OwnedDescriptor(adopting: descriptor), path: path, limit: limit)
    }

    /// The bytes of an open regular file, from where it stands.
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
                throw SystemError("read", path: path, code: EFBIG, hint: "at most \(limit) bytes are read")
            }
            if block.count < blockSize { return content }
        }
    }

    private static let blockSize = 16 << 10
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Files without secrets that are replaced as a whole.
public enum WorldReadableFile {
    /// Writes a new file beside the old one, and replaces the old one once the new one is on the
    /// storage device. A missing parent directory is created.
    public static func replace(_ path: String, content: [UInt8], mode: UInt32) throws(SystemError) {
        let directory = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        if mkdir(directory, 0o755) == 0 {
            // Independent of the umask.
            chmod(directory, 0o755)
        } else if errno != EEXIST {
            throw .last("create the directory", path: directory)
        }
        let temporary = "\(path).\(RandomBytes.hexadecimal(count: 8))"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw .last("create", path: temporary) }
        let file = OwnedDescriptor(adopting: descriptor)
        var isDone = false
        defer { if !isDone { unlink(temporary) } }
        var rest = content[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(file.rawValue, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw .last("write", path: temporary) }
            rest = rest.dropFirst(written)
        }
        guard fchmod(file.rawValue, mode) == 0, fsync(file.rawValue) == 0 else { throw .last("write", path: temporary) }
        guard rename(temporary, path) == 0 else { throw .last("replace", path: path) }
        isDone = true
    }
}

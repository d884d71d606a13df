// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import Glibc

/// The quick test of every call that writes a file without a class: it must cost little, because most files are plain.
enum ProtectionProbe {
    /// Whether a protected file is at a path, or a directory above it may have a class for new files.
    static func concerns(_ path: UnsafePointer<CChar>) -> Bool {
        var status = stat()
        if stat(path, &status) == 0 {
            // A device or a pipe has no class, and is not opened.
            guard status.st_mode & S_IFMT == S_IFREG else { return false }
            if hasMark(path) { return true }
        }
        let length = strrchr(path, Int32(UInt8(ascii: "/"))).map { $0 - UnsafeMutablePointer(mutating: path) } ?? -1
        switch length {
        case -1: return hasPolicy(above: ".")
        case 0: return hasPolicy(above: "/")
        default:
            return withUnsafeTemporaryAllocation(of: CChar.self, capacity: length + 1) { parent in
                guard let start = parent.baseAddress else { return true }
                start.update(from: path, count: length)
                start[length] = 0
                return hasPolicy(above: start)
            }
        }
    }

    private static func hasMark(_ path: UnsafePointer<CChar>) -> Bool {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        // The call itself reports a file that cannot be read.
        guard file >= 0 else { return false }
        defer { close(file) }
        return ProtectedFileMark.isPresent(in: file)
    }

    /// Walks up to the root directory, as ``ProtectionPolicy/nearest(to:)`` does, and reads no policy. True if that is not
    /// possible.
    private static func hasPolicy(above parent: UnsafePointer<CChar>) -> Bool {
        var directory = open(parent, directoryFlags)
        // Without its directory, the call fails.
        guard directory >= 0 else { return errno != ENOENT && errno != ENOTDIR }
        var (here, above) = (stat(), stat())
        fstat(directory, &here)
        while fstatat(directory, ProtectionPolicy.fileName, &above, AT_SYMLINK_NOFOLLOW) != 0 {
            let next = openat(directory, "..", directoryFlags)
            close(directory)
            guard next >= 0, fstat(next, &above) == 0 else { return true }
            directory = next
            guard above.st_ino != here.st_ino || above.st_dev != here.st_dev else {
                close(directory)
                return false
            }
            here = above
        }
        close(directory)
        return true
    }

    /// O_PATH of asm-generic/fcntl.h: the Glibc module does not export it.
    private static let directoryFlags = O_DIRECTORY | O_CLOEXEC | 0o10000000
}

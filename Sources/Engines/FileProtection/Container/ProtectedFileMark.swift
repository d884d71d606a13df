// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import LinuxSystem

/// The first bytes of a protected file: a cheap test, before its header is decoded.
public enum ProtectedFileMark {
    /// The number of bytes that ``begins(_:)`` needs.
    public static let length = ContainerFormat.magic.count + 1

    /// Whether a file that begins with these bytes is a protected one. A text that begins with the magic bytes is not: the
    /// version of a format is less than 256.
    public static func begins(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= length, let start = bytes.baseAddress else { return false }
        return start.loadUnaligned(as: UInt64.self) == magic && bytes[length - 1] == 0
    }

    /// Whether a regular file with the mark is there. No other kind of file is opened.
    public static func isPresent(at path: FilePath) -> Bool {
        guard case .some(let status) = try? FileStatus.of(path), status.kind == .file,
            let file = try? OwnedDescriptor(opening: path, flags: O_RDONLY | O_NONBLOCK | O_NOCTTY)
        else { return false }
        return isPresent(in: file.rawValue)
    }

    /// Whether an open file has the mark. Its position is not changed.
    public static func isPresent(in descriptor: Int32) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: length, alignment: 1) { bytes in
            pread(descriptor, bytes.baseAddress, bytes.count, 0) == bytes.count
                && begins(UnsafeRawBufferPointer(bytes))
        }
    }

    private static let magic = ContainerFormat.magic.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Why an operation of a file system fails: an error number (errno(3)) that the calling program receives.
public struct FileSystemError: Error, Hashable, Sendable {
    public let code: Int32

    public init(_ code: Int32) { self.code = code }

    /// Returns the error of the system call that has just failed.
    public static var last: FileSystemError { FileSystemError(errno) }

    public static let accessDenied = FileSystemError(EACCES)
    public static let badDescriptor = FileSystemError(EBADF)
    public static let busy = FileSystemError(EBUSY)
    public static let inputOutput = FileSystemError(EIO)
    public static let invalid = FileSystemError(EINVAL)
    public static let nameTooLong = FileSystemError(ENAMETOOLONG)
    public static let noAttribute = FileSystemError(ENODATA)
    public static let notFound = FileSystemError(ENOENT)
    public static let notPermitted = FileSystemError(EPERM)
    public static let stale = FileSystemError(ESTALE)
    public static let tooLarge = FileSystemError(EFBIG)
    public static let unsupported = FileSystemError(EOPNOTSUPP)
}

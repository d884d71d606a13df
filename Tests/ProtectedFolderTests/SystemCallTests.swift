// SPDX-License-Identifier: Apache-2.0

import CFileCalls
import Foundation
import Glibc
import Testing

/// The errors that POSIX prescribes, one call a case, after the manner of pjdfstest.
@Suite(.enabled(if: TestFolder.isAvailable, TestFolder.reason)) struct SystemCallTests {
    /// A call in a directory that has `file` (3 bytes), `empty/`, `full/inner`, `full/sub/`, `link` to
    /// `file`, `dangling` and `loop`.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let expected: Int32
        let call: @Sendable (String) throws -> Void

        init(_ name: String, _ expected: Int32, _ call: @escaping @Sendable (String) throws -> Void) {
            (testDescription, self.expected, self.call) = (name, expected, call)
        }
    }

    private static let long = String(repeating: "n", count: 176)

    private static let opening: [Case] = [
        Case("open a missing file", ENOENT) { close(try Call.open($0 + "/none", O_RDONLY)) },
        Case("open below a missing directory", ENOENT) { close(try Call.open($0 + "/none/x", O_CREAT | O_RDWR)) },
        Case("open below a file", ENOTDIR) { close(try Call.open($0 + "/file/x", O_RDONLY)) },
        Case("create below a file", ENOTDIR) { close(try Call.open($0 + "/file/x", O_CREAT | O_RDWR)) },
        Case("create a file that exists, exclusively", EEXIST) {
            close(try Call.open($0 + "/file", O_CREAT | O_EXCL | O_RDWR))
        },
        Case("create a link that exists, exclusively", EEXIST) {
            close(try Call.open($0 + "/dangling", O_CREAT | O_EXCL | O_RDWR))
        },
        Case("create a file that exists", 0) { close(try Call.open($0 + "/file", O_CREAT | O_RDWR)) },
        Case("create through a dangling link", 0) {
            close(try Call.open($0 + "/dangling", O_CREAT | O_RDWR))
            close(try Call.open($0 + "/missing", O_RDONLY))
        },
        Case("open a directory for writing", EISDIR) { close(try Call.open($0 + "/empty", O_WRONLY)) },
        Case("create a directory as a file", EISDIR) { close(try Call.open($0 + "/empty", O_CREAT | O_RDWR)) },
        Case("open a file as a directory", ENOTDIR) { close(try Call.open($0 + "/file", O_RDONLY | O_DIRECTORY)) },
        Case("open a link without following it", ELOOP) { close(try Call.open($0 + "/link", O_RDONLY | O_NOFOLLOW)) },
        Case("open a loop of links", ELOOP) { close(try Call.open($0 + "/loop", O_RDONLY)) },
        Case("open a long name", ENAMETOOLONG) { close(try Call.open($0 + "/" + long, O_RDONLY)) },
        Case("create a long name", ENAMETOOLONG) { close(try Call.open($0 + "/" + long, O_CREAT | O_RDWR)) },
        Case("write to a file that is open for reading", EBADF) {
            let file = try Call.open($0 + "/file", O_RDONLY)
            defer { close(file) }
            try Call.check(write(file, [1] as [UInt8], 1))
        },
        Case("read from a file that is open for writing", EBADF) {
            let file = try Call.open($0 + "/file", O_WRONLY)
            defer { close(file) }
            var byte: UInt8 = 0
            try Call.check(Glibc.read(file, &byte, 1))
        },
        Case("cut on opening", 0) {
            close(try Call.open($0 + "/file", O_WRONLY | O_TRUNC))
            try expect(Call.status($0 + "/file").st_size == 0)
        },
    ]

    private static let removing: [Case] = [
        Case("unlink a missing file", ENOENT) { try Call.check(unlink($0 + "/none")) },
        Case("unlink a directory", EISDIR) { try Call.check(unlink($0 + "/empty")) },
        Case("unlink below a file", ENOTDIR) { try Call.check(unlink($0 + "/file/x")) },
        Case("unlink a long name", ENAMETOOLONG) { try Call.check(unlink($0 + "/" + long)) },
        Case("unlink a link, and not its target", 0) {
            try Call.check(unlink($0 + "/link"))
            _ = try Call.status($0 + "/file")
        },
        Case("unlink a loop", 0) { try Call.check(unlink($0 + "/loop")) },
        Case("rmdir a missing directory", ENOENT) { try Call.check(rmdir($0 + "/none")) },
        Case("rmdir a file", ENOTDIR) { try Call.check(rmdir($0 + "/file")) },
        Case("rmdir a link", ENOTDIR) { try Call.check(rmdir($0 + "/link")) },
        Case("rmdir a directory with files", ENOTEMPTY) { try Call.check(rmdir($0 + "/full")) },
        Case("rmdir .", EINVAL) { try Call.check(rmdir($0 + "/empty/.")) },
        Case("rmdir ..", ENOTEMPTY) { try Call.check(rmdir($0 + "/full/sub/..")) },
        Case("rmdir an empty directory", 0) {
            let links = try Call.status($0).st_nlink
            try Call.check(rmdir($0 + "/empty"))
            try expect(try Call.status($0).st_nlink == links - 1)
        },
        Case("create in a removed directory", ENOENT) {
            let directory = try Call.open($0 + "/empty", O_RDONLY | O_DIRECTORY)
            defer { close(directory) }
            try Call.check(rmdir($0 + "/empty"))
            try Call.check(openat(directory, "x", O_CREAT | O_RDWR, 0o600))
        },
    ]

    private static let making: [Case] = [
        Case("mkdir a directory that exists", EEXIST) { try Call.check(mkdir($0 + "/empty", 0o755)) },
        Case("mkdir a file that exists", EEXIST) { try Call.check(mkdir($0 + "/file", 0o755)) },
        Case("mkdir a dangling link", EEXIST) { try Call.check(mkdir($0 + "/dangling", 0o755)) },
        Case("mkdir below a file", ENOTDIR) { try Call.check(mkdir($0 + "/file/x", 0o755)) },
        Case("mkdir below a missing directory", ENOENT) { try Call.check(mkdir($0 + "/none/x", 0o755)) },
        Case("mkdir a long name", ENAMETOOLONG) { try Call.check(mkdir($0 + "/" + long, 0o755)) },
        Case("mkdir with permissions", 0) {
            // Permissions that the umask of no user takes away.
            try Call.check(mkdir($0 + "/made", 0o700))
            try expect(try Call.status($0 + "/made").st_mode == S_IFDIR | 0o700)
            try expect(try Call.status($0 + "/made").st_nlink == 2)
        },
        Case("link to an existing name", EEXIST) { try Call.check(link($0 + "/file", $0 + "/empty")) },
        Case("link a missing file", ENOENT) { try Call.check(link($0 + "/none", $0 + "/new")) },
        Case("link a directory", EPERM) { try Call.check(link($0 + "/empty", $0 + "/new")) },
        Case("link below a file", ENOTDIR) { try Call.check(link($0 + "/file", $0 + "/file/x")) },
        Case("link to a long name", ENAMETOOLONG) { try Call.check(link($0 + "/file", $0 + "/" + long)) },
        Case("link a symbolic link", 0) {
            try Call.check(link($0 + "/link", $0 + "/new"))
            try expect(try Call.status($0 + "/new").st_mode & S_IFMT == S_IFLNK)
        },
        Case("symlink over a file", EEXIST) { try Call.check(symlink("x", $0 + "/file")) },
        Case("symlink over a link", EEXIST) { try Call.check(symlink("x", $0 + "/dangling")) },
        Case("symlink below a file", ENOTDIR) { try Call.check(symlink("x", $0 + "/file/x")) },
        Case("symlink with an empty target", ENOENT) { try Call.check(symlink("", $0 + "/new")) },
        Case("symlink with a long name", ENAMETOOLONG) { try Call.check(symlink("x", $0 + "/" + long)) },
        Case("readlink of a file", EINVAL) {
            var text: CChar = 0
            try Call.check(readlink($0 + "/file", &text, 1))
        },
    ]

    private static let renaming: [Case] = [
        Case("rename a missing file", ENOENT) { try Call.check(rename($0 + "/none", $0 + "/x")) },
        Case("rename to below a missing directory", ENOENT) { try Call.check(rename($0 + "/file", $0 + "/none/x")) },
        Case("rename to below a file", ENOTDIR) { try Call.check(rename($0 + "/empty", $0 + "/file/x")) },
        Case("rename a file to a directory", EISDIR) { try Call.check(rename($0 + "/file", $0 + "/empty")) },
        Case("rename a directory to a file", ENOTDIR) { try Call.check(rename($0 + "/empty", $0 + "/file")) },
        Case("rename a directory to one with files", ENOTEMPTY) { try Call.check(rename($0 + "/empty", $0 + "/full")) },
        Case("rename a directory to an empty one", 0) {
            try Call.check(rename($0 + "/full", $0 + "/empty"))
            _ = try Call.status($0 + "/empty/inner")
        },
        Case("rename a directory into itself", EINVAL) { try Call.check(rename($0 + "/full", $0 + "/full/sub/x")) },
        Case("rename .", EBUSY) { try Call.check(rename($0 + "/empty/.", $0 + "/x")) },
        Case("rename a long name", ENAMETOOLONG) { try Call.check(rename($0 + "/" + long, $0 + "/x")) },
        Case("rename to a long name", ENAMETOOLONG) { try Call.check(rename($0 + "/file", $0 + "/" + long)) },
        Case("rename a link, and not its target", 0) {
            try Call.check(rename($0 + "/link", $0 + "/moved"))
            try expect(try Call.status($0 + "/moved").st_mode & S_IFMT == S_IFLNK)
        },
        Case("rename two names of one file", 0) {
            try Call.check(link($0 + "/file", $0 + "/same"))
            try Call.check(rename($0 + "/file", $0 + "/same"))
            try expect(try Call.status($0 + "/file").st_nlink == 2)
            try expect(try Call.read($0 + "/same") == [1, 2, 3])
        },
        Case("rename without replacing", EEXIST) {
            try Call.check(renameat2(AT_FDCWD, $0 + "/file", AT_FDCWD, $0 + "/link", CFILECALLS_NO_REPLACE))
        },
        Case("exchange with a missing file", ENOENT) {
            try Call.check(renameat2(AT_FDCWD, $0 + "/file", AT_FDCWD, $0 + "/none", CFILECALLS_EXCHANGE))
        },
        Case("exchange a file and a directory", 0) {
            try Call.check(renameat2(AT_FDCWD, $0 + "/file", AT_FDCWD, $0 + "/full", CFILECALLS_EXCHANGE))
            _ = try Call.status($0 + "/file/inner")
            try expect(try Call.read($0 + "/full") == [1, 2, 3])
        },
        Case("rename over an open file", 0) {
            try Call.write([9], to: $0 + "/other")
            let file = try Call.open($0 + "/file", O_RDONLY)
            defer { close(file) }
            try Call.check(rename($0 + "/other", $0 + "/file"))
            try expect(try Call.read(file) == [1, 2, 3])
            try expect(try Call.read($0 + "/file") == [9])
        },
    ]

    private static let changing: [Case] = [
        Case("chmod a missing file", ENOENT) { try Call.check(chmod($0 + "/none", 0o600)) },
        Case("chmod below a file", ENOTDIR) { try Call.check(chmod($0 + "/file/x", 0o600)) },
        Case("chmod a loop", ELOOP) { try Call.check(chmod($0 + "/loop", 0o600)) },
        Case("chmod", 0) {
            try Call.check(chmod($0 + "/file", 0o6751))
            try expect(try Call.status($0 + "/file").st_mode == S_IFREG | 0o6751)
        },
        Case("chmod through a link", 0) {
            try Call.check(chmod($0 + "/link", 0o640))
            try expect(try Call.status($0 + "/file").st_mode == S_IFREG | 0o640)
        },
        Case("chmod 0 and back", 0) {
            try Call.check(chmod($0 + "/file", 0))
            try expect(try Call.status($0 + "/file").st_size == 3)
            try Call.check(chmod($0 + "/file", 0o600))
            try expect(try Call.read($0 + "/file") == [1, 2, 3])
        },
        Case("chown a missing file", ENOENT) { try Call.check(chown($0 + "/none", getuid(), getgid())) },
        Case("chown to oneself", 0) { try Call.check(chown($0 + "/file", getuid(), getgid())) },
        Case("truncate a missing file", ENOENT) { try Call.check(truncate($0 + "/none", 1)) },
        Case("truncate a directory", EISDIR) { try Call.check(truncate($0 + "/empty", 1)) },
        Case("truncate below a file", ENOTDIR) { try Call.check(truncate($0 + "/file/x", 1)) },
        Case("truncate to a negative length", EINVAL) { try Call.check(truncate($0 + "/file", -1)) },
        Case("truncate beyond the longest file", EFBIG) { try Call.check(truncate($0 + "/file", 1 << 49)) },
        Case("truncate through a link", 0) {
            try Call.check(truncate($0 + "/link", 1))
            try expect(try Call.read($0 + "/file") == [1])
        },
        Case("truncate a file that is open for reading", EINVAL) {
            let file = try Call.open($0 + "/file", O_RDONLY)
            defer { close(file) }
            try Call.check(ftruncate(file, 1))
        },
        Case("utimes of a missing file", ENOENT) { try Call.check(utimes($0 + "/none", nil)) },
        Case("utimes", 0) {
            try Call.check(utimes($0 + "/file", [timeval(tv_sec: 5, tv_usec: 0), timeval(tv_sec: 6, tv_usec: 0)]))
            try expect(try Call.status($0 + "/file").st_mtim.tv_sec == 6)
        },
        Case("fsync of a file and a directory", 0) {
            for name in ["/file", "/empty"] {
                let file = try Call.open($0 + name, O_RDONLY)
                defer { close(file) }
                try Call.check(fsync(file))
            }
        },
        Case("access to a missing file", ENOENT) { try Call.check(access($0 + "/none", F_OK)) },
        Case("stat through a dangling link", ENOENT) {
            var info = stat()
            try Call.check(stat($0 + "/dangling", &info))
        },
    ]

    private static let cases = opening + removing + making + renaming + changing

    private static func expect(_ condition: Bool) throws { if !condition { throw Call.Failed(code: -2) } }

    @Test("Each call has the result that POSIX prescribes")
    func results() throws {
        #expect(Self.cases.count >= 60)
        let folder = try TestFolder()
        for (number, one) in Self.cases.enumerated() {
            let place = folder.path("\(number)")
            try Self.prepare(place)
            #expect(Call.code { try one.call(place) } == one.expected, "\(one.testDescription)")
        }
    }

    private static func prepare(_ place: String) throws {
        for name in ["", "/empty", "/full", "/full/sub"] { try Call.check(mkdir(place + name, 0o755)) }
        try Call.write([1, 2, 3], to: place + "/file")
        try Call.write([], to: place + "/full/inner")
        for (name, target) in [("link", "file"), ("dangling", "missing"), ("loop", "loop")] {
            try Call.check(symlink(target, place + "/" + name))
        }
    }
}

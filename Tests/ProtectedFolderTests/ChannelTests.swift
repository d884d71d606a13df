// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import LinuxSystem
@testable import ProtectedFolder
import Testing

/// Pipes and sockets with names in a folder: the kernel connects their programs.
@Suite("Pipes and sockets of a folder", .enabled(if: TestFolder.isAvailable, TestFolder.reason))
struct ChannelTests {
    @Test("A pipe passes bytes, and has its name, mode and owner; the store has no name of it")
    func pipe() throws {
        let folder = try TestFolder()
        try Call.check(mkfifo(folder.path("pipe"), 0o640))
        let status = try Call.status(folder.path("pipe"))
        #expect(status.st_mode & S_IFMT == S_IFIFO && status.st_mode & 0o137 == 0)
        #expect(status.st_uid == geteuid() && status.st_size == 0 && status.st_nlink == 1)
        // Opened for both, no end waits for the other.
        let ends = try Call.open(folder.path("pipe"), O_RDWR | O_NONBLOCK)
        defer { close(ends) }
        try Call.check(write(ends, [1, 2, 3] as [UInt8], 3))
        var bytes = [UInt8](repeating: 0, count: 8)
        #expect(Glibc.read(ends, &bytes, 8) == 3 && bytes.prefix(3) == [1, 2, 3])
        let stored = try folder.stored
        #expect(stored.count == 1 && !stored.contains { $0.contains("pipe") })
    }

    @Test("A program binds a socket, another one connects to it, and receives from the first one")
    func socket() throws {
        let folder = try TestFolder()
        let server = try bound(folder.path("S.agent"))
        defer { close(server) }
        #expect(try Call.status(folder.path("S.agent")).st_mode & S_IFMT == S_IFSOCK)
        try Call.check(listen(server, 1))
        let client = try Call.check(Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
        defer { close(client) }
        try withAddress(folder.path("S.agent")) { try Call.check(connect(client, $0, $1)) }
        let other = try Call.check(accept(server, nil, nil))
        defer { close(other) }
        try Call.check(write(other, [7] as [UInt8], 1))
        var byte: UInt8 = 0
        #expect(Glibc.read(client, &byte, 1) == 1 && byte == 7)
        // The name is in use, as on other file systems.
        #expect(Call.code { close(try bound(folder.path("S.agent"))) } == EADDRINUSE)
    }

    @Test(
        "They are listed with their kind, renamed, linked, changed and removed, and survive a remount",
        arguments: [S_IFIFO, S_IFSOCK])
    func names(_ kind: UInt32) throws {
        let folder = try TestFolder()
        let (one, two) = (folder.path("one"), folder.path("two"))
        try Call.check(mknod(one, kind | 0o600, 0))
        #expect(Call.code { try Call.check(mknod(one, kind | 0o600, 0)) } == EEXIST)
        #expect(
            Call.code { try Call.check(mknod(folder.path(String(repeating: "n", count: 176)), kind, 0)) }
                == ENAMETOOLONG)
        try Call.check(link(one, two))
        #expect(try Call.status(two).st_nlink == 2)
        try Call.check(unlink(one))
        try Call.check(Glibc.rename(two, folder.path("three")))
        try Call.check(chmod(folder.path("three"), 0o604))
        let times = [timespec(tv_sec: 1_000_000, tv_nsec: 5), timespec(tv_sec: 2_000_000, tv_nsec: 6)]
        try Call.check(utimensat(AT_FDCWD, folder.path("three"), times, 0))
        folder.unmount()
        try folder.open(nil)
        let status = try Call.status(folder.path("three"))
        #expect(status.st_mode == kind | 0o604 && status.st_nlink == 1 && status.st_mtim.tv_sec == 2_000_000)
        #expect(try Call.names(folder.mount) == ["three"])
        try Call.check(unlink(folder.path("three")))
        #expect(try Call.names(folder.mount) == [])
        #expect(try folder.stored == [])
    }

    @Test("While the class is closed, none is made, found or removed")
    func locked() throws {
        let folder = try TestFolder()
        try Call.check(mkfifo(folder.path("pipe"), 0o600))
        folder.lock()
        #expect(Call.code { try Call.check(mkfifo(folder.path("other"), 0o600)) } == EACCES)
        #expect(Call.code { _ = try Call.status(folder.path("pipe")) } == EACCES)
        #expect(Call.code { try Call.check(unlink(folder.path("pipe"))) } == EACCES)
        folder.unlock()
        try Call.check(unlink(folder.path("pipe")))
    }

    // MARK: Helpers

    private func bound(_ path: String) throws -> Int32 {
        let socket = try Call.check(Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
        do {
            try withAddress(path) { try Call.check(bind(socket, $0, $1)) }
            return socket
        } catch {
            close(socket)
            throw error
        }
    }

    private func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Void) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        try #require(bytes.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        try withUnsafePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

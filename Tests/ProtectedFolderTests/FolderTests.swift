// SPDX-License-Identifier: Apache-2.0

import CFileCalls
import FileProtection
import Foundation
import Glibc
import LinuxSystem
@testable import ProtectedFolder
import Testing
import UserspaceFileSystem

@Suite(.enabled(if: TestFolder.isAvailable, TestFolder.reason)) struct FolderTests {
    @Test("Written files are read, and the store has neither names nor content")
    func roundTrip() throws {
        let folder = try TestFolder()
        let bytes = sampleBytes(300_001)
        try folder.write(bytes, "private diary.txt")
        #expect(try folder.read("private diary.txt") == bytes)
        #expect(try Call.status(folder.path("private diary.txt")).st_size == bytes.count)
        #expect(try Call.names(folder.mount) == ["private diary.txt"])
        let stored = try #require(try folder.stored.first)
        let content = try Call.read(folder.store + "/" + stored)
        #expect(!stored.contains("diary"))
        #expect(Data(content).range(of: Data(bytes[1000..<1016])) == nil)
    }

    @Test("A mount sees the files of the last one, also over the store itself", arguments: [false, true])
    func remount(_ over: Bool) throws {
        let folder = try TestFolder(over: over)
        let mount = over ? folder.store : folder.mount
        try Call.check(mkdir(mount + "/a", 0o755))
        try Call.write([1, 2, 3], to: mount + "/a/b")
        try Call.check(symlink("a/b", mount + "/link"))
        folder.unmount()
        #expect(try Call.names(folder.store).count == 3)
        try folder.open(nil, at: mount)
        #expect(try Call.read(mount + "/link") == [1, 2, 3])
        #expect(try Call.names(mount) == ["a", "link"])
    }

    @Test("A folder cannot be mounted at a file or a missing directory")
    func wrongMountPoint() throws {
        let folder = try TestFolder()
        folder.unmount()
        try Call.write([], to: folder.base + "/file")
        for name in ["file", "none"] {
            #expect(throws: FileProtectionError.self) { try folder.open(nil, at: folder.base + "/" + name) }
        }
    }

    @Test("Names have up to 175 bytes, of any value", arguments: [1, 2, 15, 16, 17, 100, 174, 175])
    func names(_ length: Int) throws {
        let folder = try TestFolder()
        let name = String(repeating: "n", count: length)
        try folder.write([7], name)
        #expect(try folder.read(name) == [7])
        #expect(Call.code { try folder.write([7], name + String(repeating: "x", count: 176 - length)) } == ENAMETOOLONG)
        var info = statvfs()
        #expect(statvfs(folder.mount, &info) == 0)
        #expect(info.f_namemax == 175)
        let raw: [CChar] = Array(folder.path("").utf8CString.dropLast()) + [-1, -2, 65, 0]
        #expect(mkdir(raw, 0o755) == 0)
    }

    @Test("Nested directories, and the list of a directory with many files")
    func directories() throws {
        let folder = try TestFolder()
        var path = folder.mount
        for depth in 0..<20 {
            path += "/level \(depth)"
            try Call.check(mkdir(path, 0o755))
        }
        for number in 0..<2000 { close(try Call.open(path + "/file \(number)", O_CREAT | O_WRONLY)) }
        let names = try Call.names(path)
        #expect(Set(names) == Set((0..<2000).map { "file \($0)" }))
        #expect(names.count == 2000)
    }

    @Test("Renaming replaces, exchanges and refuses")
    func rename() throws {
        let folder = try TestFolder()
        try folder.write([1], "a")
        try folder.write([2, 2], "b")
        try Call.check(mkdir(folder.path("d"), 0o755))
        try Call.check(renameat2(AT_FDCWD, folder.path("a"), AT_FDCWD, folder.path("b"), CFILECALLS_EXCHANGE))
        #expect(try folder.read("a") == [2, 2])
        #expect(try folder.read("b") == [1])
        let refused = Call.code {
            try Call.check(renameat2(AT_FDCWD, folder.path("a"), AT_FDCWD, folder.path("b"), CFILECALLS_NO_REPLACE))
        }
        #expect(refused == EEXIST)
        try Call.check(Glibc.rename(folder.path("a"), folder.path("d/c")))
        #expect(try folder.read("d/c") == [2, 2])
        try Call.check(Glibc.rename(folder.path("d/c"), folder.path("b")))
        #expect(try folder.read("b") == [2, 2])
        #expect(try Call.names(folder.mount) == ["b", "d"])
        // A directory moves with its content, while a file in it is open.
        try folder.write([3], "d/e")
        let file = try Call.open(folder.path("d/e"), O_RDWR)
        defer { close(file) }
        try Call.check(Glibc.rename(folder.path("d"), folder.path("f")))
        try Call.check(pwrite(file, [4] as [UInt8], 1, 1))
        #expect(try folder.read("f/e") == [3, 4])
    }

    @Test("A removed file can be used as long as it is open")
    func removedWhileOpen() throws {
        let folder = try TestFolder()
        let file = try Call.open(folder.path("a"), O_CREAT | O_RDWR)
        defer { close(file) }
        try Call.check(pwrite(file, [1, 2, 3] as [UInt8], 3, 0))
        try Call.check(unlink(folder.path("a")))
        // Another file may get the number of the removed one in the store.
        try folder.write([9], "a")
        try Call.check(pwrite(file, [4] as [UInt8], 1, 3))
        #expect(try Call.read(file) == [1, 2, 3, 4])
        let status = try Call.status(file)
        #expect(status.st_nlink == 0)
        #expect(status.st_size == 4)
        try Call.check(fchmod(file, 0o600))
        try Call.check(fsync(file))
        #expect(try folder.read("a") == [9])
    }

    @Test("The change time is that of the last write, before and after it is stored; later changes have their own")
    func changeTime() throws {
        let folder = try TestFolder()
        for number in 0..<50 {
            let path = folder.path("f\(number)")
            let file = try Call.open(path, O_CREAT | O_RDWR)
            try Call.check(write(file, sampleBytes(10_000), 10_000))
            let open = Times(try Call.status(file))
            #expect(open.changed == open.modified)
            // Storing takes place later than the write.
            usleep(2000)
            close(file)
            #expect(Times(try Call.status(path)) == open)
        }
        let path = folder.path("f0")
        let before = Times(try Call.status(path))
        try Call.check(chmod(path, 0o600))
        let changed = Times(try Call.status(path))
        #expect(changed.modified == before.modified && changed.changed > before.changed)
        #expect(try folder.read("f0").count == 10_000)
        #expect(Times(try Call.status(path)) == changed)
        // A change of the mode after a write that is not stored yet.
        let file = try Call.open(path, O_RDWR)
        try Call.check(pwrite(file, [1] as [UInt8], 1, 0))
        let written = Times(try Call.status(file))
        usleep(2000)
        try Call.check(fchmod(file, 0o640))
        let both = Times(try Call.status(file))
        #expect(both.modified == written.modified && both.changed > written.changed)
        close(file)
        #expect(Times(try Call.status(path)) == both)
    }

    /// The times of a file that a program changes.
    private struct Times: Equatable {
        let modified: FileTime
        let changed: FileTime

        init(_ status: stat) {
            (modified, changed) = (FileTime(status.st_mtim), FileTime(status.st_ctim))
        }
    }

    @Test("Hard links share content and attributes")
    func hardLinks() throws {
        let folder = try TestFolder()
        try folder.write([1], "a")
        try Call.check(link(folder.path("a"), folder.path("b")))
        #expect(try Call.status(folder.path("a")).st_nlink == 2)
        #expect(try Call.status(folder.path("a")).st_ino == Call.status(folder.path("b")).st_ino)
        try folder.write([5, 6], "b")
        #expect(try folder.read("a") == [5, 6])
        try Call.check(unlink(folder.path("a")))
        #expect(try folder.read("b") == [5, 6])
        #expect(try Call.status(folder.path("b")).st_nlink == 1)
    }

    @Test("Targets of symbolic links have up to 3,055 bytes")
    func targetLength() throws {
        let folder = try TestFolder()
        let target = String(repeating: "t/", count: 1527) + "t"
        try Call.check(symlink(target, folder.path("longest")))
        #expect(try Call.target(folder.path("longest")) == target)
        #expect(Call.code { try Call.check(symlink(target + "x", folder.path("longer"))) } == ENAMETOOLONG)
    }

    @Test("Targets of symbolic links are encrypted, and have their length")
    func symbolicLinks() throws {
        let folder = try TestFolder()
        for target in ["x", "../some/where", String(repeating: "t", count: 3055)] {
            try Call.check(symlink(target, folder.path("link")))
            #expect(try Call.status(folder.path("link")).st_size == target.utf8.count)
            #expect(try Call.target(folder.path("link")) == target)
            let stored = try #require(try folder.stored.first)
            let raw = try Call.target(folder.store + "/" + stored)
            #expect(!raw.contains(target) || target == "x")
            try Call.check(unlink(folder.path("link")))
        }
        let tooLong = Call.code { try Call.check(symlink(String(repeating: "t", count: 3056), folder.path("link"))) }
        #expect(tooLong == ENAMETOOLONG)
    }

    @Test("Extended attributes of users are kept, encrypted and bound to their names")
    func extendedAttributes() throws {
        let folder = try TestFolder()
        try folder.write([1], "a")
        let path = folder.path("a")
        try Call.check(setxattr(path, "user.color", "blue", 4, 0))
        try Call.check(setxattr(path, "user.empty", "", 0, 0))
        var buffer = [UInt8](repeating: 0, count: 100)
        #expect(getxattr(path, "user.color", &buffer, 100) == 4)
        #expect(buffer.starts(with: Array("blue".utf8)))
        #expect(getxattr(path, "user.empty", &buffer, 100) == 0)
        #expect(Call.code { try Call.check(getxattr(path, "user.color", &buffer, 2)) } == ERANGE)
        #expect(Call.code { try Call.check(getxattr(path, "user.none", &buffer, 100)) } == ENODATA)
        #expect(Call.code { try Call.check(setxattr(path, "user.color", "x", 1, 1)) } == EEXIST)
        var list = [CChar](repeating: 0, count: 200)
        let count = listxattr(path, &list, 200)
        let names = list.prefix(max(0, count)).map { UInt8(bitPattern: $0) }.split(separator: 0)
            .map { String(decoding: $0, as: UTF8.self) }
        #expect(Set(names) == ["user.color", "user.empty"])
        try Call.check(removexattr(path, "user.color"))
        #expect(Call.code { try Call.check(getxattr(path, "user.color", &buffer, 100)) } == ENODATA)
        let stored = folder.store + "/" + (try #require(try folder.stored.first))
        let raw = listxattr(stored, &list, 200)
        #expect(
            !String(decoding: list.prefix(max(0, raw)).map { UInt8(bitPattern: $0) }, as: UTF8.self).contains("empty"))
    }

    @Test("Times that a program sets stay, also if it has written before and closes afterwards")
    func times() throws {
        let folder = try TestFolder()
        let file = try Call.open(folder.path("a"), O_CREAT | O_WRONLY)
        try Call.check(write(file, [1] as [UInt8], 1))
        let times = [timespec(tv_sec: 1_000_000, tv_nsec: 5), timespec(tv_sec: 2_000_000, tv_nsec: 6)]
        try Call.check(futimens(file, times))
        close(file)
        let status = try Call.status(folder.path("a"))
        #expect(status.st_atim.tv_sec == 1_000_000)
        #expect(status.st_mtim.tv_sec == 2_000_000)
        #expect(status.st_mtim.tv_nsec == 6)
        // The time of the last write, not that of storing it.
        let other = try Call.open(folder.path("b"), O_CREAT | O_WRONLY)
        try Call.check(write(other, [1] as [UInt8], 1))
        let before = try Call.status(other).st_mtim
        usleep(50_000)
        close(other)
        let after = try Call.status(folder.path("b")).st_mtim
        #expect(before.tv_sec == after.tv_sec)
        #expect(before.tv_nsec == after.tv_nsec)
        try Call.check(chmod(folder.path("b"), 0o4711))
        #expect(try Call.status(folder.path("b")).st_mode & 0o7777 == 0o4711)
    }

    @Test("Appending, cutting, extending and holes")
    func lengths() throws {
        let folder = try TestFolder()
        for part in 0..<5 {
            let file = try Call.open(folder.path("a"), O_CREAT | O_WRONLY | O_APPEND)
            try Call.check(write(file, sampleBytes(50_000, UInt64(part)), 50_000))
            close(file)
        }
        let all = (0..<5).flatMap { sampleBytes(50_000, $0) }
        #expect(try folder.read("a") == all)
        try Call.check(truncate(folder.path("a"), 70_000))
        #expect(try folder.read("a") == Array(all.prefix(70_000)))
        try Call.check(truncate(folder.path("a"), 200_000))
        #expect(try folder.read("a") == Array(all.prefix(70_000)) + [UInt8](repeating: 0, count: 130_000))
        let file = try Call.open(folder.path("hole"), O_CREAT | O_RDWR)
        defer { close(file) }
        try Call.check(pwrite(file, [1] as [UInt8], 1, 100 << 30))
        #expect(try Call.status(file).st_size == 100 << 30 + 1)
        #expect(try Call.status(file).st_blocks < 10_000)
        #expect(try Call.read(file, at: 100 << 30 - 2) == [0, 0, 1])
        #expect(posix_fallocate(file, 0, 100 << 30 + 50) == 0)
        #expect(try Call.status(file).st_size == 100 << 30 + 50)
        #expect(Call.code { try Call.check(pwrite(file, [1] as [UInt8], 1, 1 << 48)) } == EFBIG)
        #expect(try Call.shell("fallocate -p -o 0 -l 4096 '\(folder.path("a"))' 2>&1 | grep -q support") == 0)
    }

    @Test("Changes of mapped memory are stored")
    func mappedMemory() throws {
        let folder = try TestFolder()
        try folder.write(sampleBytes(100_000), "a")
        let file = try Call.open(folder.path("a"), O_RDWR)
        let memory = try #require(mmap(nil, 100_000, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0))
        #expect(memory != MAP_FAILED)
        close(file)
        memory.storeBytes(of: 0xAB, toByteOffset: 70_000, as: UInt8.self)
        #expect(msync(memory, 100_000, MS_SYNC) == 0)
        munmap(memory, 100_000)
        var expected = sampleBytes(100_000)
        expected[70_000] = 0xAB
        #expect(try folder.read("a") == expected)
        folder.unmount()
        try folder.open(nil)
        #expect(try folder.read("a") == expected)
    }

    @Test("A file that was changed in the store, or is not one, cannot be read, but removed")
    func tampered() throws {
        let folder = try TestFolder(timeout: 0)
        try folder.write(sampleBytes(1000), "a")
        let stored = folder.store + "/" + (try #require(try folder.stored.first))
        folder.unmount()
        var bytes = try Call.read(stored)
        let content = bytes.count - 500
        bytes[content] ^= 1
        try Call.write(bytes, to: stored)
        try folder.open(nil, timeout: 0)
        #expect(Call.code { _ = try folder.read("a") } == EIO)
        // The header as well.
        for offset in [20, 4200] where offset < bytes.count { bytes[offset] ^= 1 }
        try Call.write(bytes, to: stored)
        #expect(Call.code { _ = try folder.read("a") } == EIO)
        try Call.write([], to: stored)
        #expect(Call.code { _ = try folder.read("a") } == EIO)
        #expect(try Call.status(folder.path("a")).st_size == 0)
        #expect(!folder.reports.all.isEmpty)
        try Call.check(unlink(folder.path("a")))
        #expect(try Call.names(folder.mount) == [])
    }

    @Test("A name that the folder has not made is not shown, and reported once")
    func foreignName() throws {
        let folder = try TestFolder(timeout: 0)
        try folder.write([1], "a")
        let stored = try #require(try folder.stored.first)
        let changed = (stored.first == "A" ? "B" : "A") + stored.dropFirst()
        try Call.write([1], to: folder.store + "/plain name")
        try Call.check(Glibc.rename(folder.store + "/" + stored, folder.store + "/" + changed))
        #expect(try Call.names(folder.mount) == [])
        #expect(try Call.names(folder.mount) == [])
        #expect(Set(folder.reports.all) == [.unreadableName("plain name"), .unreadableName(changed)])
        #expect(folder.reports.all.count == 2)
    }

    @Test("A symbolic link in the store is not followed")
    func storeLinks() throws {
        let folder = try TestFolder(timeout: 0)
        try folder.write([1], "a")
        let stored = folder.store + "/" + (try #require(try folder.stored.first))
        try Call.check(Glibc.rename(stored, folder.base + "/moved"))
        try Call.check(symlink(folder.base + "/moved", stored))
        #expect(Call.code { _ = try folder.read("a") } == EIO)
    }

    @Test("Devices are refused; a file can be made with mknod")
    func devices() throws {
        let folder = try TestFolder()
        for kind in [0o020000, 0o060000] as [UInt32] {
            #expect(Call.code { try Call.check(mknod(folder.path("d"), kind | 0o600, 1)) } == EPERM)
        }
        try Call.check(mknod(folder.path("f"), S_IFREG | 0o600, 0))
        #expect(try folder.read("f") == [])
        #expect(try Call.names(folder.mount) == ["f"])
    }

    @Test(
        "Other users are let in only with allow_other, and then as the permissions allow it",
        .enabled(if: geteuid() == 0, "only root can act for another user"), arguments: [false, true])
    func otherUsers(_ allows: Bool) throws {
        let folder = try TestFolder(allowsOthers: allows)
        for path in [folder.base, folder.mount] { try Call.check(chmod(path, 0o755)) }
        for (name, mode) in [("readable", 0o644), ("private", 0o600)] as [(String, UInt32)] {
            try folder.write([1], name)
            try Call.check(chmod(folder.path(name), mode))
        }
        func other(_ command: String) throws -> Bool {
            let user = "setpriv --reuid=65534 --regid=65534 --clear-groups"
            return try Call.shell("exec \(user) sh -c '\(command)' 2> /dev/null") == 0
        }
        #expect(try other("cat < /dev/null"))
        #expect(try other("cat \(folder.path("readable"))") == allows)
        #expect(try !other("cat \(folder.path("private"))"))
        #expect(try !other("echo > \(folder.path("readable"))"))
        #expect(try !other("echo > \(folder.path("new"))"))
        #expect(try folder.read("readable") == [1])
    }

    @Test("Locks of programs exclude each other")
    func locks() throws {
        let folder = try TestFolder()
        try folder.write([1], "a")
        let (one, other) = (try Call.open(folder.path("a"), O_RDWR), try Call.open(folder.path("a"), O_RDWR))
        defer {
            close(one)
            close(other)
        }
        #expect(flock(one, LOCK_EX | LOCK_NB) == 0)
        #expect(flock(other, LOCK_EX | LOCK_NB) == -1)
        #expect(flock(one, LOCK_UN) == 0)
        #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
    }

    @Test("git can be used in the folder")
    func git() throws {
        let folder = try TestFolder()
        let status = try Call.shell(
            """
            set -e; cd '\(folder.mount)'; export HOME='\(folder.base)'
            git init -q -b main repository; cd repository
            git config user.name n; git config user.email e@example.org
            mkdir -p a/b; i=0; while [ $i -lt 60 ]; do echo "line $i" > a/b/file$i; i=$((i+1)); done
            ln -s a/b/file1 link; printf '#!/bin/sh\\n' > run; chmod +x run
            git add .; git commit -q -m one
            git checkout -q -b two; echo changed > a/b/file3; git rm -q a/b/file4; git commit -q -am two
            git checkout -q main; grep -q 'line 3' a/b/file3; test -e a/b/file4
            git merge -q two; test ! -e a/b/file4; git gc -q; git fsck --strict
            git clone -q . ../clone; cd ../clone; test "$(cat a/b/file3)" = changed; test -x run
            test -z "$(git status --porcelain)"
            """)
        #expect(status == 0)
    }
}

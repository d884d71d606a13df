// SPDX-License-Identifier: Apache-2.0

import FileProtection
import FolderTesting
import Foundation
import Glibc
import KeychainModel
import KeychainTesting
import LinuxSystem
import ProtectedFolder
import Testing
@testable import UserspaceFileSystem

/// The results of programs' calls while the class of the folder is closed.
@Suite(.enabled(if: TestFolder.isAvailable, TestFolder.reason)) struct FolderLockTests {
    @Test("Closed, nothing can be opened, listed, created or removed; open again, everything works")
    func closed() throws {
        let folder = try TestFolder()
        try folder.write(sampleBytes(200_000), "a")
        try Call.check(mkdir(folder.path("d"), 0o755))
        try Call.check(symlink("a", folder.path("l")))
        #expect(try folder.read("a").count == 200_000)
        let directory = try Call.open(folder.path("d"), O_RDONLY | O_DIRECTORY)
        defer { close(directory) }
        folder.lock()
        #expect(Call.code { _ = try folder.read("a") } == EACCES)
        #expect(Call.code { _ = try Call.status(folder.path("a")) } == EACCES)
        #expect(Call.code { _ = try Call.names(folder.mount) } == EACCES)
        #expect(Call.code { try folder.write([1], "new") } == EACCES)
        #expect(Call.code { try Call.check(unlink(folder.path("a"))) } == EACCES)
        #expect(Call.code { try Call.check(mkdir(folder.path("e"), 0o755)) } == EACCES)
        #expect(Call.code { try Call.check(Glibc.rename(folder.path("a"), folder.path("b"))) } == EACCES)
        var target: CChar = 0
        #expect(Call.code { try Call.check(readlink(folder.path("l"), &target, 1)) } == EACCES)
        #expect(Call.code { try Call.check(openat(directory, "x", O_CREAT | O_WRONLY, 0o600)) } == EACCES)
        #expect(Call.code { _ = try Call.status(folder.mount) } == 0)
        folder.unlock()
        #expect(try folder.read("a") == sampleBytes(200_000))
        #expect(try Call.names(folder.mount) == ["a", "d", "l"])
        close(try Call.check(openat(directory, "x", O_CREAT | O_WRONLY, 0o600)))
    }

    @Test("A file synchronized before the lock can be closed after it, and then has two equal headers")
    func closedAfterSynchronization() throws {
        let folder = try TestFolder(.complete)
        let bytes = sampleBytes(40_000)
        try folder.write(bytes, "a")
        let file = try Call.open(folder.path("a"), O_RDWR)
        for call in [fsync, fdatasync] {
            try Call.check(pwrite(file, [1, 2, 3] as [UInt8], 3, 20_000))
            try Call.check(call(file))
        }
        folder.lock()
        #expect(Call.code { try Call.check(close(file)) } == 0)
        let name = try #require(try folder.stored.first)
        let stored = Array(try Data(contentsOf: URL(filePath: folder.store + "/" + name)))
        #expect(stored[..<4096] == stored[4096..<8192])
        #expect(eventually { folder.openFiles == 0 })
        folder.unlock()
        #expect(try folder.read("a") == bytes[..<20_000] + [1, 2, 3] + bytes[20_003...])
    }

    @Test("Open files of class A cannot be read while it is closed, not even from the kernel's cache")
    func openFilesOfClassA() throws {
        let folder = try TestFolder(.complete)
        let bytes = sampleBytes(1_000_000)
        try folder.write(bytes, "a")
        let file = try Call.open(folder.path("a"), O_RDWR)
        defer { close(file) }
        #expect(try Call.read(file) == bytes)
        #expect(try Call.read(file) == bytes)
        let memory = try #require(mmap(nil, 1_000_000, PROT_READ, MAP_SHARED, file, 0))
        defer { munmap(memory, 1_000_000) }
        #expect(memory.load(fromByteOffset: 500_000, as: UInt8.self) == bytes[500_000])
        folder.lock()
        for offset in stride(from: 0, to: 1_000_000, by: 4096) {
            #expect(Call.code { _ = try Call.read(file, at: offset) } == EACCES)
        }
        #expect(Call.code { try Call.check(pwrite(file, [1] as [UInt8], 1, 0)) } == EACCES)
        // The pages of the mapping are gone as well.
        var resident = [UInt8](repeating: 0, count: 245)
        let start = UnsafeMutableRawPointer(memory)
        #expect(
            eventually { mincore(start, 1_000_000, &resident) == 0 && resident.allSatisfy { $0 & 1 == 0 } })
        folder.unlock()
        #expect(try Call.read(file) == bytes)
        #expect(memory.load(fromByteOffset: 500_000, as: UInt8.self) == bytes[500_000])
        try Call.check(pwrite(file, [1] as [UInt8], 1, 0))
    }

    @Test("Open files of class B stay usable; they cannot be opened again")
    func openFilesOfClassB() throws {
        let folder = try TestFolder(.completeUnlessOpen)
        let bytes = sampleBytes(100_000)
        try folder.write(bytes, "a")
        try folder.write(bytes, "b")
        _ = try folder.read("b")
        let file = try Call.open(folder.path("a"), O_RDWR)
        folder.lock()
        #expect(try Call.read(file) == bytes)
        try Call.check(pwrite(file, [1, 2, 3] as [UInt8], 3, 0))
        #expect(try Call.status(file).st_size == 100_000)
        #expect(Call.code { _ = try folder.read("a") } == EACCES)
        #expect(Call.code { _ = try folder.read("b") } == EACCES)
        try Call.check(close(file))
        folder.unlock()
        let after = try folder.read("a")
        #expect(after.count == bytes.count)
        #expect(Array(after.prefix(8)) == [1, 2, 3] + bytes[3..<8])
        #expect(after == [1, 2, 3] + bytes.dropFirst(3))
    }

    @Test("A file of class B that is closed after the lock leaves no page in the kernel's cache, and no open file")
    func closedFilesOfClassB() throws {
        let folder = try TestFolder(.completeUnlessOpen)
        let bytes = sampleBytes(500_000)
        for name in ["a", "b", "c"] { try folder.write(bytes, name) }
        let (file, other) = (try Call.open(folder.path("a"), O_RDONLY), try Call.open(folder.path("b"), O_RDONLY))
        defer { close(other) }
        #expect(try [Call.read(file), Call.read(other), folder.read("c")] == [bytes, bytes, bytes])
        #expect(folder.filesWithPages == 3)
        folder.lock()
        #expect(eventually { folder.filesWithPages == 2 })
        #expect(try Call.read(file) == bytes)
        try Call.check(close(file))
        #expect(eventually { folder.filesWithPages == 1 && folder.openFiles == 1 })
        #expect(try Call.read(other) == bytes)
        folder.unlock()
        #expect(try folder.read("a") == bytes)
    }

    @Test("While a program waits for the key of a file, the lock refuses reads through all open files at once")
    func openInFlight() throws {
        let folder = try TestFolder()
        let bytes = sampleBytes(100_000)
        let names = (0..<12).map { "file\($0)" }
        for name in names { try folder.write(bytes, name) }
        let files = try names.map { try Call.open(folder.path($0), O_RDONLY) }
        defer { for file in files { close(file) } }
        for file in files { #expect(try Call.read(file) == bytes) }
        folder.keys.setSilent(true)
        defer { folder.keys.setSilent(false) }
        let (opening, locking, reading) = (BinarySemaphore(), BinarySemaphore(), BinarySemaphore())
        let code = SystemMutex<Int32>(0)
        let refused = SystemMutex(0)
        let stop = SystemMutex(false)
        for semaphore in [opening, locking, reading] { semaphore.acquire() }
        // The file is open for reading; its key for writing is asked for while its content cannot be used.
        let path = folder.path(names[5])
        BackgroundThread.run {
            let found = Call.code { close(try Call.open(path, O_RDWR)) }
            code.withLock { $0 = found }
            opening.release()
        }
        #expect(eventually { folder.keys.waiting == 1 })
        BackgroundThread.run {
            folder.lock()
            locking.release()
        }
        BackgroundThread.run {
            for file in files {
                while !stop.withLock({ $0 }), Call.code({ _ = try Call.read(file) }) != EACCES { usleep(1000) }
                refused.withLock { $0 += 1 }
            }
            reading.release()
        }
        #expect(eventually { refused.withLock { $0 } == files.count })
        #expect(folder.keys.waiting == 1)
        stop.withLock { $0 = true }
        folder.keys.setSilent(false)
        for semaphore in [opening, locking, reading] {
            semaphore.acquire()
            semaphore.release()
        }
        #expect(code.withLock { $0 } == EACCES)
        folder.unlock()
        for file in files { #expect(try Call.read(file) == bytes) }
    }

    @Test(
        "An unlock ends the removal of pages: programs read again, and their pages are removed at the next lock",
        .long)
    func unlockDuringRemoval() throws {
        let folder = try TestFolder()
        let bytes = sampleBytes(4 << 20)
        try folder.write(bytes, "a")
        let file = try Call.open(folder.path("a"), O_RDONLY)
        defer { close(file) }
        for _ in 0..<20 {
            #expect(try Call.read(file) == bytes)
            folder.lock()
            folder.unlock()
            #expect(try Call.read(file) == bytes)
        }
        #expect(eventually { folder.filesWithPages == 1 })
        folder.lock()
        #expect(eventually { folder.filesWithPages == 0 })
        #expect(Call.code { _ = try Call.read(file) } == EACCES)
    }

    @Test("A file written before the lock and closed during it is stored after it")
    func waitingChanges() throws {
        let folder = try TestFolder()
        let file = try Call.open(folder.path("a"), O_CREAT | O_RDWR)
        try folder.lock { try Call.check(pwrite(file, sampleBytes(100_000), 100_000, 0)) }
        #expect(Call.code { try Call.check(close(file)) } == EACCES)
        folder.unlock()
        #expect(try folder.read("a") == sampleBytes(100_000))
        folder.unmount()
        try folder.open(nil)
        #expect(try folder.read("a") == sampleBytes(100_000))
    }

    @Test("Changes that are lost at the end are named, also of a store with more problems than are reported")
    func lostChanges() throws {
        let folder = try TestFolder()
        for number in 0..<1001 { try Call.write([], to: "\(folder.store)/other\(number)") }
        let file = try Call.open(folder.path("a"), O_CREAT | O_RDWR)
        _ = try Call.names(folder.mount)
        #expect(folder.reports.all.count == 1000)
        try folder.lock { try Call.check(pwrite(file, sampleBytes(1000), 1000, 0)) }
        close(file)
        folder.unmount()
        let lost = folder.lost.withLock { $0 }
        #expect(lost.count == 1 && !lost.contains { $0.hasPrefix("other") }, "\(lost)")
    }

    @Test("Of several threads that wait for the begun requests, none goes on before the first of them is answered")
    func gate() {
        for _ in 0..<20 {
            let gate = OperationGate()
            let (begun, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let (waits, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let state = GateState()
            BackgroundThread.run {
                gate.pass {
                    begun.signal()
                    end.awaitSignal()
                    state.isOver.withLock { $0 = true }
                }
            }
            begun.awaitSignal()
            for _ in 0..<4 {
                BackgroundThread.run {
                    waits.signal()
                    gate.awaitBegun()
                    if !state.isOver.withLock({ $0 }) { state.early.withLock { $0 += 1 } }
                    done.signal()
                }
            }
            for _ in 0..<4 { waits.awaitSignal() }
            end.signal()
            for _ in 0..<4 { done.awaitSignal() }
            #expect(state.early.withLock { $0 } == 0)
        }
    }

    private final class GateState: Sendable {
        let isOver = SystemMutex(false)
        let early = SystemMutex(0)
    }

    @Test("No page that is read during the lock stays in the kernel's cache")
    func racingReads() throws {
        let folder = try TestFolder()
        try folder.write(sampleBytes(4 << 20), "a")
        let file = try Call.open(folder.path("a"), O_RDONLY)
        defer { close(file) }
        for _ in 0..<30 {
            let stop = SystemMutex(false)
            let ended = BinarySemaphore()
            ended.acquire()
            BackgroundThread.run {
                var buffer = [UInt8](repeating: 0, count: 4096)
                var offset = 0
                while !stop.withLock({ $0 }) {
                    _ = pread(file, &buffer, buffer.count, offset)
                    offset = (offset + 69_632) % (4 << 20)
                }
                ended.release()
            }
            usleep(3000)
            folder.lock()
            usleep(500)
            stop.withLock { $0 = true }
            ended.acquire()
            ended.release()
            var buffer = [UInt8](repeating: 0, count: 4096)
            let offsets = stride(from: 0, to: 4 << 20, by: 4096)
            #expect(eventually { offsets.allSatisfy { pread(file, &buffer, 4096, $0) < 0 } })
            folder.unlock()
        }
    }

    @Test("A folder that is told of the lock shows nothing any more, also while its open files still have their keys")
    func toldBeforeKeys() throws {
        let folder = try TestFolder()
        let bytes = sampleBytes(500_000)
        try folder.write(bytes, "a")
        let file = try Call.open(folder.path("a"), O_RDWR)
        defer { close(file) }
        #expect(try Call.read(file) == bytes)
        folder.tellLocked()
        #expect(Call.code { _ = try Call.read(file) } == EACCES)
        #expect(Call.code { try Call.check(pwrite(file, [1] as [UInt8], 1, 0)) } == EACCES)
        #expect(Call.code { _ = try folder.read("a") } == EACCES)
        folder.unlock()
        #expect(try Call.read(file) == bytes)
    }

    @Test("While programs read a file in a loop, the lock removes all of its pages from the kernel's cache")
    func busyPages() throws {
        let folder = try TestFolder()
        let length = 2 << 20
        let bytes = sampleBytes(length)
        try folder.write(bytes, "a")
        let file = try Call.open(folder.path("a"), O_RDONLY)
        defer { close(file) }
        let memory = try #require(mmap(nil, length, PROT_READ, MAP_SHARED, file, 0))
        defer { munmap(memory, length) }
        func cachedPages() -> Int {
            var resident = [UInt8](repeating: 0, count: length / 4096)
            #expect(mincore(memory, length, &resident) == 0)
            return resident.count { $0 & 1 != 0 }
        }
        for round in 0..<40 {
            // A removal that an unlock ends may still take the pages that it has begun.
            #expect(try eventually { try Call.read(file) == bytes && cachedPages() == length / 4096 })
            let stop = SystemMutex(false)
            let readers = (0..<4).map { _ in BinarySemaphore() }
            for (number, ended) in readers.enumerated() {
                ended.acquire()
                BackgroundThread.run {
                    var buffer = [UInt8](repeating: 0, count: 131_072)
                    var offset = number * 500_000
                    while !stop.withLock({ $0 }) {
                        _ = pread(file, &buffer, buffer.count, offset % length)
                        offset += 4096
                    }
                    ended.release()
                }
            }
            usleep(2000)
            folder.lock()
            // Pages that the readers use at the moment of the removal are removed soon afterwards.
            #expect(eventually { cachedPages() == 0 }, "round \(round): \(cachedPages()) pages")
            stop.withLock { $0 = true }
            for ended in readers {
                ended.acquire()
                ended.release()
            }
            folder.unlock()
        }
    }

    @Test("A folder cannot be mounted while its class is closed")
    func mountWhileClosed() throws {
        let folder = try TestFolder()
        folder.unmount()
        folder.keys.setOpen(false)
        #expect(throws: FileProtectionError.key(.interactionNotAllowed)) { try folder.open(nil) }
    }

    @Test("The mount point of a killed process can be used again")
    func killed() throws {
        let folder = try TestFolder()
        folder.unmount()
        let directory = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let program = directory.appendingPathComponent("FolderTool")
        try #require(FileManager.default.isExecutableFile(atPath: program.path))
        let process = Process()
        process.executableURL = program
        process.arguments = [folder.store, folder.mount, "complete", "3"]
        process.standardOutput = FileHandle.nullDevice
        try process.start()
        #expect(try eventually { try Call.status(folder.mount).st_dev != Call.status(folder.base).st_dev })
        try folder.write([1, 2], "a")
        kill(process.processIdentifier, SIGKILL)
        process.awaitExit()
        #expect(Call.code { _ = try Call.status(folder.mount) } == ENOTCONN)
        #expect(try MountedFolder.recover(FilePath(folder.mount)))
        #expect(try !MountedFolder.recover(FilePath(folder.mount)))
        try folder.open(nil)
        #expect(try folder.read("a") == [1, 2])
    }
}

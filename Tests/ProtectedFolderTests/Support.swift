// SPDX-License-Identifier: Apache-2.0

import CFileCalls
import FileProtection
import FolderTesting
import Foundation
import Glibc
import KeychainModel
import KeychainTesting
import LinuxSystem
@testable import ProtectedFolder
import Testing

/// A store in a temporary directory, mounted beside it.
final class TestFolder: Sendable {
    static let isAvailable =
        access("/dev/fuse", R_OK | W_OK) == 0 && (geteuid() == 0 || access("/usr/bin/fusermount3", X_OK) == 0)
    static let reason: Comment = "needs /dev/fuse and fusermount3"

    let base: String
    let keys: MemoryKeys
    let reports = Reports()
    /// The stored names of files with changes that were lost at the last unmount.
    let lost = SystemMutex<[String]>([])
    private let mounted = SystemMutex<MountedFolder?>(nil)
    private let ended = BinarySemaphore()

    var store: String { base + "/store" }
    var mount: String { base + "/mount" }

    init(
        _ protection: FileProtectionClass = .complete, over: Bool = false, allowsOthers: Bool = false,
        timeout: Double = 10
    ) throws {
        var template = Array("/tmp/latchkey-folder.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw POSIXError(.EIO) }
        base = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        keys = MemoryKeys(seed: 3)
        mkdir(base + "/store", 0o700)
        mkdir(base + "/mount", 0o700)
        try open(protection, at: over ? store : mount, allowsOthers: allowsOthers, timeout: timeout)
    }

    func open(
        _ protection: FileProtectionClass?, at path: String? = nil, allowsOthers: Bool = false, timeout: Double = 10
    ) throws {
        let folder = try MountedFolder(
            of: FilePath(store), at: FilePath(path ?? mount), protection, keys: keys,
            allowsOthers: allowsOthers, timeout: timeout
        ) { [reports] report in reports.add(report) }
        mounted.withLock { $0 = folder }
        ended.acquire()
        _ = BackgroundThread.run { [ended, weak self] in
            let lost = folder.run()
            self?.lost.withLock { $0 = lost }
            ended.release()
        }
    }

    func lock() {
        keys.setOpen(false)
        mounted.withLock { $0 }?.lockStateChanged(isOpen: false)
    }

    /// Locks the folder after `change` has written to an open file, before that is stored. A process that another test
    /// starts has a copy of the file for a moment, and the kernel stores the changes when it closes that.
    func lock(after change: () throws -> Void) throws {
        repeat {
            unlock()
            try change()
            lock()
        } while mounted.withLock { $0 }?.operations.nodes.all.contains { node, _ in
            node.content.withLock { $0.hasChanges }
        } == false
    }

    /// Tells the folder of the lock before the keys of its open files are gone, as the observers of a daemon
    /// can.
    func tellLocked() { mounted.withLock { $0 }?.lockStateChanged(isOpen: false) }

    /// The number of files with parts that may have a page in the kernel.
    var filesWithPages: Int {
        mounted.withLock { $0 }?.operations.nodes.all.count { node, _ in !node.shown.withLock { $0.isEmpty } } ?? 0
    }

    /// How many files the folder has open.
    var openFiles: Int {
        mounted.withLock { $0 }?.operations.nodes.all.count { node, _ in node.content.withLock { $0.file != nil } } ?? 0
    }

    func unlock() {
        keys.setOpen(true)
        mounted.withLock { $0 }?.lockStateChanged(isOpen: true)
    }

    func unmount() {
        let folder = mounted.withLock { folder in
            defer { folder = nil }
            return folder
        }
        guard let folder else { return }
        folder.unmount()
        ended.acquire()
        ended.release()
    }

    deinit {
        unmount()
        try? FileManager.default.removeItem(atPath: base)
    }

    /// The stored files, without that of the folder itself.
    var stored: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: store).filter { !$0.hasPrefix(".") } }
    }

    func path(_ name: String) -> String { mount + "/" + name }
    func write(_ bytes: [UInt8], _ name: String) throws { try Call.write(bytes, to: path(name)) }
    func read(_ name: String) throws -> [UInt8] { try Call.read(path(name)) }
}

/// The reports of a folder.
final class Reports: Sendable {
    private let list = SystemMutex<[FolderReport]>([])

    var all: [FolderReport] { list.withLock { $0 } }
    func add(_ report: FolderReport) { list.withLock { $0.append(report) } }
}

/// System calls, with errors as `POSIXError`-like values.
enum Call {
    struct Failed: Error, Equatable { let code: Int32 }

    @discardableResult
    static func check<Number: SignedInteger>(_ result: Number) throws -> Number {
        if result < 0 { throw Failed(code: errno) }
        return result
    }

    /// Returns the error number of a call; 0 without an error.
    static func code(_ body: () throws -> Void) -> Int32 {
        do { try body() } catch let failed as Failed { return failed.code } catch { return -1 }
        return 0
    }

    static func open(_ path: String, _ flags: Int32, _ mode: UInt32 = 0o644) throws -> Int32 {
        try check(Glibc.open(path, flags | O_CLOEXEC, mode))
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        let file = try open(path, O_CREAT | O_WRONLY | O_TRUNC)
        defer { close(file) }
        try check(Glibc.write(file, bytes, bytes.count))
    }

    static func read(_ path: String) throws -> [UInt8] {
        let file = try open(path, O_RDONLY)
        defer { close(file) }
        return try read(file)
    }

    static func read(_ file: Int32, at offset: Int = 0) throws -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 100_000)
        while true {
            let count = try check(pread(file, &buffer, buffer.count, offset + all.count))
            if count == 0 { return all }
            all += buffer.prefix(count)
        }
    }

    static func status(_ path: String) throws -> stat {
        var info = stat()
        try check(lstat(path, &info))
        return info
    }

    static func status(_ file: Int32) throws -> stat {
        var info = stat()
        try check(fstat(file, &info))
        return info
    }

    static func target(_ path: String) throws -> String {
        var text = [CChar](repeating: 0, count: 5000)
        let count = try check(readlink(path, &text, text.count))
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    static func names(_ path: String) throws -> [String] {
        guard let stream = opendir(path) else { throw Failed(code: errno) }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        if errno != 0 { throw Failed(code: errno) }
        return names.filter { $0 != "." && $0 != ".." }.sorted()
    }

    /// Runs a script of the shell.
    ///
    /// - Returns: the exit value.
    static func shell(_ script: String) throws -> Int32 {
        try ChildProcess.run(["sh", "-c", script], input: UnsafeRawBufferPointer(start: nil, count: 0))
    }
}

/// Bytes that differ everywhere, from a seed.
func sampleBytes(_ count: Int, _ seed: UInt64 = 1) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    return (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next() >> 32) }
}

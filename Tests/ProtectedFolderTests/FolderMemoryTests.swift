// SPDX-License-Identifier: Apache-2.0

import FolderTesting
import Foundation
import Glibc
import KeychainModel
import KeychainTesting
import LinuxSystem
import Testing

/// The content that is left in the memory of the process that serves a folder.
@Suite("Memory of a mounted folder's process", .enabled(if: TestFolder.isAvailable, TestFolder.reason))
struct FolderMemoryTests {
    private static let word = Array("Rueckgratuebung:".utf8)

    @Test("After the lock, the process has no content in its memory, also while programs read and write")
    func wiped() throws {
        let folder = try TestFolder()
        folder.unmount()
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: Executable.path("FolderTool"))
        process.arguments = [folder.store, folder.mount, "complete", "3"]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.start()
        defer {
            kill(process.processIdentifier, SIGTERM)
            process.awaitExit()
        }
        var lines = Lines(output.fileHandleForReading)
        #expect(lines.next() == "mounted")
        let memory = Glibc.open("/proc/\(process.processIdentifier)/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { return reportSkipped("the memory of a child cannot be read") }
        defer { close(memory) }
        // The search finds an existing word: an argument of the process.
        #expect(try Self.has(Array(folder.store.utf8), memory, of: process.processIdentifier))
        for round in 0..<4 {
            let stop = SystemMutex(false)
            let workers = (0..<3).map { _ in BinarySemaphore() }
            for (number, ended) in workers.enumerated() {
                ended.acquire()
                let path = folder.path("file\(number)")
                BackgroundThread.run {
                    while !stop.withLock({ $0 }) { Self.use(path) }
                    ended.release()
                }
            }
            usleep(20_000)
            kill(process.processIdentifier, SIGUSR1)
            #expect(lines.next() == "closed")
            stop.withLock { $0 = true }
            for ended in workers {
                ended.acquire()
                ended.release()
            }
            #expect(try !Self.has(Self.word, memory, of: process.processIdentifier), "round \(round)")
            kill(process.processIdentifier, SIGUSR2)
            #expect(lines.next() == "open")
        }
    }

    /// Writes and reads a file; fails while the class is closed.
    private static func use(_ path: String) {
        let file = Glibc.open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        let bytes = Array(repeatElement(word, count: 8000).joined())
        pwrite(file, bytes, bytes.count, 0)
        var buffer = [UInt8](repeating: 0, count: 70_000)
        pread(file, &buffer, buffer.count, 1000)
        pwrite(file, bytes, 100, 65_500)
    }

    /// Returns whether bytes are in the memory of a process that a core dump contains: not in the arena of secrets
    /// (with data that was written and could not be stored before the lock).
    private static func has(_ word: [UInt8], _ memory: Int32, of process: pid_t) throws -> Bool {
        let text = try String(contentsOfFile: "/proc/\(process)/smaps", encoding: .utf8)
        var range: Range<Int>?
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            let bounds = words[0].split(separator: "-").compactMap { Int($0, radix: 16) }
            if bounds.count == 2 {
                range = words[1].hasPrefix("rw") ? bounds[0]..<bounds[1] : nil
            } else if words[0] == "VmFlags:", let known = range, !words.contains("dd") {
                var content = Data(count: known.count)
                let count = content.withUnsafeMutableBytes {
                    pread(memory, $0.baseAddress, $0.count, off_t(known.lowerBound))
                }
                if count > 0, content.range(of: Data(word)) != nil { return true }
            }
        }
        return false
    }
}

/// The lines of a process, one after the other.
private struct Lines {
    private let handle: FileHandle
    private var rest = ""

    init(_ handle: FileHandle) { self.handle = handle }

    mutating func next() -> String? {
        while !rest.contains("\n") {
            let data = handle.awaitContent()
            guard !data.isEmpty else { return nil }
            rest += String(decoding: data, as: UTF8.self)
        }
        let line = rest.prefix { $0 != "\n" }
        rest = String(rest.dropFirst(line.count + 1))
        return String(line)
    }
}

// SPDX-License-Identifier: Apache-2.0

import FileProtection
import Foundation
import Glibc
import KeychainModel
import Testing

/// The stored files of a mounted folder: both headers are equal whenever no program has the file open.
@Suite("Headers of a mounted folder's stored files", .enabled(if: TestFolder.isAvailable, TestFolder.reason))
struct StoredHeaderTests {
    private static let header = 4096

    /// The uses of a file of 100,000 bytes by programs, until it is closed.
    private static let uses: [(name: String, use: @Sendable (String) throws -> Void)] = [
        ("written", { _ in }),
        ("written again", { try Call.write(sampleBytes(70_000, 2), to: $0) }),
        (
            "changed in the middle",
            {
                let file = try Call.open($0, O_RDWR)
                try Call.check(pwrite(file, [1, 2, 3] as [UInt8], 3, 50_000))
                try Call.check(close(file))
            }
        ),
        ("shortened", { try Call.check(truncate($0, 10)) }),
        ("emptied", { try Call.check(truncate($0, 0)) }),
        ("extended", { try Call.check(truncate($0, 1_000_000)) }),
        (
            "synchronized and changed again",
            {
                let file = try Call.open($0, O_RDWR | O_APPEND)
                try Call.check(write(file, [1], 1))
                try Call.check(fsync(file))
                try Call.check(write(file, [2], 1))
                try Call.check(close(file))
            }
        ),
        (
            "given times while it is open",
            {
                let file = try Call.open($0, O_RDWR)
                try Call.check(pwrite(file, [9], 1, 0))
                try Call.check(futimens(file, [timespec(tv_sec: 5, tv_nsec: 0), timespec(tv_sec: 6, tv_nsec: 0)]))
                try Call.check(close(file))
            }
        ),
        (
            "only created",
            {
                try Call.check(unlink($0))
                try Call.check(close(try Call.open($0, O_CREAT | O_EXCL | O_WRONLY)))
            }
        ),
    ]

    @Test("Both headers are equal when a program has closed the file, and stay so", arguments: uses.indices)
    func equal(_ index: Int) throws {
        let (name, use) = Self.uses[index]
        let folder = try TestFolder()
        try folder.write(sampleBytes(100_000), "a")
        try use(folder.path("a"))
        let bytes = try Self.bytes(folder)
        // The kernel tells the process of the last close when it has returned; acknowledged changes are already stored.
        #expect(bytes[..<Self.header] == bytes[Self.header..<2 * Self.header], "\(name)")
        let content = try folder.read("a")
        folder.unmount()
        let after = try Self.bytes(folder)
        #expect(after[..<Self.header] == after[Self.header..<2 * Self.header], "\(name), unmounted")
        // No changed byte of a header gives a program another content.
        let path = folder.store + "/" + (try #require(try folder.stored.first))
        for position in stride(from: 0, to: 2 * Self.header, by: 811) {
            var damaged = after
            damaged[position] ^= 0x20
            try Data(damaged).write(to: URL(filePath: path))
            try folder.open(nil)
            let found = try? folder.read("a")
            #expect(found == nil || found == content, "\(name), byte \(position)")
            folder.unmount()
        }
    }

    private static func bytes(_ folder: TestFolder) throws -> [UInt8] {
        let stored = try folder.stored
        try #require(stored.count == 1)
        return Array(try Data(contentsOf: URL(filePath: folder.store + "/" + stored[0])))
    }
}

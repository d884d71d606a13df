// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Testing

/// A file system in memory that a test fills or makes read-only. Only root can mount it:
/// ``StorageErrorTests/canMount``.
final class SmallFileSystem {
    private let directory: TemporaryDirectory
    let path: String
    private var filler: String { "\(path)/filler" }

    init() throws {
        directory = try TemporaryDirectory()
        path = "\(directory.path)/small"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try #require(try Self.run("mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "latchkey-test", path) == 0)
    }

    deinit { _ = try? Self.run("umount", "-l", path) }

    /// The names in it, without that of the filler.
    var names: Set<String> {
        get throws { Set(try FileManager.default.contentsOfDirectory(atPath: path)).subtracting(["filler"]) }
    }

    /// Uses all space.
    func fill() throws {
        let file = open(filler, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        let page = [UInt8](repeating: 0xF1, count: 4096)
        var code: Int32 = 0
        while code == 0 { code = write(file, page, page.count) < 0 ? errno : 0 }
        try #require(code == ENOSPC)
    }

    /// Releases the space that ``fill()`` has used.
    func makeRoom() throws { try FileManager.default.removeItem(atPath: filler) }

    func makeReadOnly() throws {
        // A child that another test has just started can have a copy of a descriptor until it runs its program.
        try #require(try eventually { try Self.run("mount", "-o", "remount,ro", path) == 0 })
    }

    private static func run(_ words: String...) throws -> Int32 {
        try Executable.run("/usr/bin/env", words, home: "").status
    }
}

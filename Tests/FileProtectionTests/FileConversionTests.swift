// SPDX-License-Identifier: Apache-2.0

import CLatchkey
import FileProtection
import Foundation
import Glibc
import KeychainModel
import KeychainTesting
import LinuxSystem
import Testing

/// Protecting files in place, and back.
@Suite struct FileConversionTests {
    private let directory: TemporaryDirectory
    private let open: OpenDirectory
    private let keys = MemoryFileKeys()

    init() throws {
        directory = try TemporaryDirectory()
        open = try OpenDirectory(directory.path)
    }

    private func path(_ name: String) -> String { "\(directory.path)/\(name)" }

    private func protect(_ name: FilePath, _ protection: FileProtectionClass = .complete) throws
        -> FileConversion.Outcome
    {
        try FileConversion(keys).protect(name, in: open, FileConversion.Target(protection))
    }

    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: directory.path) }

    @Test("Content, mode, times and attributes survive, in both directions")
    func roundTrip() throws {
        let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 * 7) })
        try content.write(to: URL(filePath: path("a")))
        #expect(chmod(path("a"), 0o2640) == 0)
        let descriptor = Glibc.open(path("a"), O_RDWR)
        defer { close(descriptor) }
        let hasAttributes = latchkey_set_attribute(descriptor, "user.note", "text", 4) == 0
        var times = [timespec(tv_sec: 1_000_000_000, tv_nsec: 5), timespec(tv_sec: 1_100_000_000, tv_nsec: 7)]
        #expect(futimens(descriptor, &times) == 0)
        for (convert, isProtected) in [
            ({ try protect("a") }, true), ({ try protect("a", .none) }, true),
            ({ try FileConversion(keys).renew("a", in: open) }, true),
            ({ try FileConversion(keys).unprotect("a", in: open) }, false),
        ] as [(() throws -> FileConversion.Outcome, Bool)] {
            #expect(try convert() != .unchanged)
            var info = stat()
            #expect(stat(path("a"), &info) == 0)
            #expect(info.st_mode & 0o7777 == 0o2640)
            #expect(info.st_mtim.tv_sec == 1_100_000_000 && info.st_mtim.tv_nsec == 7)
            let found = try Data(contentsOf: URL(filePath: path("a")))
            #expect((found == content) == !isProtected)
            if isProtected { #expect(found.range(of: content.prefix(64)) == nil) }
            let copy = Glibc.open(path("a"), O_RDONLY)
            defer { close(copy) }
            var value = [UInt8](repeating: 0, count: 16)
            if hasAttributes { #expect(latchkey_get_attribute(copy, "user.note", &value, 16) == 4) }
        }
        #expect(try names() == ["a"])
    }

    @Test("Holes stay holes, in both directions")
    func sparse() throws {
        let descriptor = Glibc.open(path("s"), O_RDWR | O_CREAT, 0o600)
        #expect(pwrite(descriptor, "begin", 5, 0) == 5)
        #expect(pwrite(descriptor, "end", 3, 1 << 30) == 3)
        close(descriptor)
        func blocks() -> Int {
            var info = stat()
            return stat(path("s"), &info) == 0 ? Int(info.st_blocks) * 512 : .max
        }
        #expect(try protect("s") == .protected)
        #expect(blocks() < 2 << 20)
        #expect(try FileConversion(keys).unprotect("s", in: open) == .unprotected)
        #expect(blocks() < 2 << 20)
        let handle = try FileHandle(forReadingFrom: URL(filePath: path("s")))
        #expect(try handle.read(upToCount: 5) == Data("begin".utf8))
        try handle.seek(toOffset: 1 << 30)
        #expect(try handle.readToEnd() == Data("end".utf8))
    }

    @Test("Files with several names, links, pipes and directories are refused, and stay as they are")
    func unsuitable() throws {
        for name in ["one", "target"] { try Data("x".utf8).write(to: URL(filePath: path(name))) }
        #expect(link(path("one"), path("two")) == 0)
        #expect(symlink("target", path("link")) == 0)
        #expect(mkfifo(path("pipe"), 0o600) == 0)
        #expect(mkdir(path("folder"), 0o700) == 0)
        for name in ["one", "link", "pipe", "folder"] {
            let error = #expect(throws: FileProtectionError.self) { try protect(FilePath(name)) }
            guard case .unsuitable? = error else {
                Issue.record("\(name): \(String(describing: error))")
                continue
            }
        }
        #expect(try Data(contentsOf: URL(filePath: path("target"))) == Data("x".utf8))
        #expect(try names().count == 6)
    }

    @Test("Another user's file is refused", .enabled(if: geteuid() == 0, "only root can give a file away"))
    func otherOwner() throws {
        try Data("x".utf8).write(to: URL(filePath: path("theirs")))
        #expect(chown(path("theirs"), 12345, 12345) == 0)
        let error = #expect(throws: FileProtectionError.self) { try protect("theirs") }
        #expect(error?.description.contains("12345") == true)
        #expect(try Data(contentsOf: URL(filePath: path("theirs"))) == Data("x".utf8))
    }

    @Test("A file that changes meanwhile is left as it is")
    func changing() throws {
        try Data(repeating: 1, count: 500_000).write(to: URL(filePath: path("busy")))
        let target = path("busy")
        let conversion = FileConversion(keys) { _ in
            let descriptor = Glibc.open(target, O_WRONLY | O_APPEND)
            write(descriptor, "more", 4)
            close(descriptor)
        }
        #expect(throws: FileProtectionError.changedMeanwhile) {
            try conversion.protect("busy", in: open, FileConversion.Target(.complete))
        }
        #expect(try Data(contentsOf: URL(filePath: path("busy"))).prefix(500_000) == Data(repeating: 1, count: 500_000))
        #expect(try names() == ["busy"])
    }

    @Test("A file that was replaced by another one meanwhile is left as it is")
    func replaced() throws {
        try Data(repeating: 1, count: 500_000).write(to: URL(filePath: path("busy")))
        try Data("new".utf8).write(to: URL(filePath: path("other")))
        let (from, target) = (path("other"), path("busy"))
        let conversion = FileConversion(keys) { _ in Glibc.rename(from, target) }
        #expect(throws: FileProtectionError.changedMeanwhile) {
            try conversion.protect("busy", in: open, FileConversion.Target(.complete))
        }
        #expect(try Data(contentsOf: URL(filePath: path("busy"))) == Data("new".utf8))
    }

    @Test("A dry run reports the results, and changes nothing")
    func dryRun() throws {
        try Data("x".utf8).write(to: URL(filePath: path("a")))
        let conversion = FileConversion(keys, dryRun: true)
        #expect(try conversion.protect("a", in: open, FileConversion.Target(.complete)) == .protected)
        #expect(try Data(contentsOf: URL(filePath: path("a"))) == Data("x".utf8))
        #expect(try protect("a") == .protected)
        let before = try Data(contentsOf: URL(filePath: path("a")))
        #expect(try conversion.protect("a", in: open, FileConversion.Target(FileProtectionClass.none)) == .rewrapped)
        #expect(try conversion.unprotect("a", in: open) == .unprotected)
        #expect(try conversion.renew("a", in: open) == .renewed)
        #expect(try Data(contentsOf: URL(filePath: path("a"))) == before)
    }

    @Test("A repetition changes nothing; a new class key changes only the header")
    func repetition() throws {
        try Data(repeating: 5, count: 200_000).write(to: URL(filePath: path("a")))
        #expect(try protect("a") == .protected)
        #expect(try protect("a") == .unchanged)
        let before = try Data(contentsOf: URL(filePath: path("a")))
        keys.raiseGeneration()
        #expect(try FileConversion(keys).rewrap("a", in: open, FileConversion.Target(nil)) == .rewrapped)
        let after = try Data(contentsOf: URL(filePath: path("a")))
        #expect(before.count == after.count && before != after)
        #expect(before.dropFirst(8192) == after.dropFirst(8192))
    }

    @Test("An empty file is protected, and a file that begins like a protected one is never encrypted again")
    func edges() throws {
        try Data().write(to: URL(filePath: path("empty")))
        #expect(try protect("empty") == .protected)
        #expect(try FileConversion(keys).unprotect("empty", in: open) == .unprotected)
        #expect(try Data(contentsOf: URL(filePath: path("empty"))) == Data())
        try Data("LATCHKEY and nothing more".utf8).write(to: URL(filePath: path("fake")))
        #expect(throws: FileProtectionError.self) { try protect("fake") }
    }

    // MARK: Damaged headers

    private func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path(name)))) }

    private func change(_ name: String, _ change: (inout [UInt8]) -> Void) throws {
        var bytes = try bytes(name)
        change(&bytes)
        try Data(bytes).write(to: URL(filePath: path(name)))
    }

    private static let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 * 7) }

    @Test("Every conversion leaves two equal headers, and no changed byte of one of them loses the content", .long)
    func settledConversions() throws {
        try Data(Self.content).write(to: URL(filePath: path("a")))
        let conversions: [(String, () throws -> FileConversion.Outcome)] = [
            ("protect", { try protect("a") }), ("another class", { try protect("a", .none) }),
            ("renew", { try FileConversion(keys).renew("a", in: open) }),
            (
                "rekey",
                {
                    keys.raiseGeneration()
                    return try FileConversion(keys).rewrap("a", in: open, FileConversion.Target(nil))
                }
            ),
        ]
        for (name, convert) in conversions {
            #expect(try convert() != .unchanged)
            let before = try bytes("a")
            #expect(before[..<4096] == before[4096..<8192], "\(name)")
            for position in stride(from: 0, to: 8192, by: 41) {
                try change("a") { $0[position] ^= 0x04 }
                do {
                    guard try FileConversion(keys).unprotect("a", in: open) == .unprotected else {
                        throw FileProtectionError.changedMeanwhile
                    }
                    #expect(try bytes("a") == Self.content, "\(name), byte \(position)")
                } catch is FileProtectionError {
                    // A file that could not be read whole is still there.
                    try change("a") { $0[position] ^= 0x04 }
                    #expect(try bytes("a") == before, "\(name), byte \(position)")
                }
                try Data(before).write(to: URL(filePath: path("a")))
            }
        }
    }

    @Test("A file that cannot be read whole is not made plain, nor encrypted again")
    func incomplete() throws {
        for position in [8192 + 5, 8192 + 65_536 * 2 + 3] {
            try Data(Self.content).write(to: URL(filePath: path("a")))
            #expect(try protect("a") == .protected)
            try change("a") { $0[position] ^= 1 }
            let before = try bytes("a")
            #expect(throws: FileProtectionError.self) { try FileConversion(keys).unprotect("a", in: open) }
            #expect(throws: FileProtectionError.self) { try FileConversion(keys).renew("a", in: open) }
            #expect(throws: FileProtectionError.self) { try FileConversion(keys).repair("a", in: open) }
            #expect(try bytes("a") == before)
            #expect(try names() == ["a"])
            try FileManager.default.removeItem(atPath: path("a"))
        }
    }

    @Test("A repair keeps the former file if there may have been a newer state, and changes nothing that is whole")
    func repair() throws {
        try Data(Self.content).write(to: URL(filePath: path("a")))
        #expect(try protect("a") == .protected)
        let whole = try bytes("a")
        #expect(try FileConversion(keys).repair("a", in: open) == .unchanged)
        // A damaged copy of the header: no newer state is missing.
        try change("a") { $0[30] ^= 1 }
        #expect(try FileConversion(keys, dryRun: true).repair("a", in: open) == .repaired)
        #expect(try bytes("a") != whole)
        #expect(try FileConversion(keys).repair("a", in: open) == .repaired)
        #expect(try bytes("a") == whole)
        #expect(try names() == ["a"])
        // The same by another conversion of the file.
        try change("a") { $0[4096 + 30] ^= 1 }
        #expect(try protect("a") == .repaired)
        #expect(try bytes("a") == whole)
        // Nothing tells how old the other one is.
        try change("a") { $0.replaceSubrange(0..<4096, with: repeatElement(0, count: 4096)) }
        let damaged = try bytes("a")
        #expect(throws: FileProtectionError.headersDisagree) { try FileConversion(keys).unprotect("a", in: open) }
        #expect(throws: FileProtectionError.headersDisagree) { try protect("a", .none) }
        #expect(try FileConversion(keys, dryRun: true).repair("a", in: open) == .restored)
        #expect(try names() == ["a"])
        #expect(try FileConversion(keys).repair("a", in: open) == .restored)
        #expect(try bytes("a") == whole)
        #expect(try bytes("a.damaged") == damaged)
        #expect(try FileConversion(keys).repair("a", in: open) == .unchanged)
        #expect(try FileConversion(keys).unprotect("a", in: open) == .unprotected)
        #expect(try bytes("a") == Self.content)
    }

    @Test(
        "A copy of a repair that was interrupted is used again; another file of its name stays, and the copy is numbered"
    )
    func interruptedRepair() throws {
        try Data(Self.content).write(to: URL(filePath: path("a")))
        #expect(try protect("a") == .protected)
        let whole = try bytes("a")
        func damage() throws -> [UInt8] {
            try change("a") { $0.replaceSubrange(0..<4096, with: repeatElement(0, count: 4096)) }
            return try bytes("a")
        }
        let damaged = try damage()
        try Data(damaged).write(to: URL(filePath: path("a.damaged")))
        #expect(try FileConversion(keys).repair("a", in: open) == .restored)
        #expect(try bytes("a") == whole)
        #expect(try Set(names()) == ["a", "a.damaged"])
        // The same length, and other bytes; then a link to the same bytes.
        for (count, other) in [(2, damaged.dropLast() + damaged.suffix(1).map { $0 ^ 1 }), (3, damaged)] {
            if count == 2 {
                try Data(other).write(to: URL(filePath: path("a.damaged")))
            } else {
                try FileManager.default.removeItem(atPath: path("a.damaged"))
                try Data(repeating: 7, count: 10).write(to: URL(filePath: path("a.damaged.2")))
                try Data(other).write(to: URL(filePath: path("target")))
                #expect(symlink("target", path("a.damaged")) == 0)
            }
            #expect(try damage() == damaged)
            #expect(try FileConversion(keys).repair("a", in: open) == .restored)
            #expect(try bytes("a.damaged.\(count)") == damaged)
            #expect(try bytes("a.damaged") == Array(other))
        }
    }

    @Test(
        "A repair stores no older state while the newest header cannot be opened for now",
        arguments: [
            TestKey.closed, KeychainError(.interactionNotAllowed), KeychainError(.notAvailable, "no daemon"),
            KeychainError(.missingEntitlement),
        ])
    func repairWhileClosed(_ error: KeychainError) throws {
        try Data(Self.content).write(to: URL(filePath: path("a")))
        #expect(try protect("a", .none) == .protected)
        let older = try bytes("a")
        #expect(try protect("a", .complete) == .rewrapped)
        let newer = try bytes("a")
        // The change to the class complete was interrupted between its two headers.
        for newest in [0, 4096] {
            try change("a") { bytes in
                let other = 4096 - newest
                bytes.replaceSubrange(newest..<newest + 4096, with: newer[newest..<newest + 4096])
                bytes.replaceSubrange(other..<other + 4096, with: older[other..<other + 4096])
            }
            let before = try bytes("a")
            keys.close(.complete, error)
            #expect(throws: FileProtectionError.key(error)) { try FileConversion(keys).repair("a", in: open) }
            #expect(throws: FileProtectionError.key(error)) {
                try FileConversion(keys, dryRun: true).repair("a", in: open)
            }
            #expect(try bytes("a") == before)
            #expect(try names() == ["a"])
            keys.close(.complete, nil)
            #expect(try FileConversion(keys).repair("a", in: open) == .repaired)
            #expect(try bytes("a") == newer)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainTesting
import LinuxSystem
import Testing

/// Paths and names as bytes that need not be UTF-8.
@Suite("Paths as bytes")
struct FilePathTests {
    /// "café" in Latin-1.
    private static let latin1 = FilePath(bytes: [0x63, 0x61, 0x66, 0xE9])

    @Test("A path keeps its bytes in interpolations, parts and parents")
    func bytes() {
        let place: FilePath = "/tmp/\(Self.latin1)/\("näme").\(7)"
        #expect(place.bytes == Array("/tmp/caf".utf8) + [0xE9] + Array("/näme.7".utf8))
        #expect(place.lastComponent == "näme.7")
        #expect(place.parent == "/tmp/\(Self.latin1)")
        #expect(place.parent?.lastComponent == Self.latin1)
        #expect(Self.latin1.parent == "." && FilePath("/a").parent == "/" && FilePath("/").parent == nil)
        #expect(FilePath("a/").appending(Self.latin1) == "a/\(Self.latin1)")
        #expect(Self.latin1.text == nil && FilePath("näme").text == "näme")
    }

    @Test(
        "Only bytes that are not UTF-8 are escaped in messages",
        arguments: [
            ([0x63, 0x61, 0x66, 0xE9], #"caf\xe9"#), (Array("näme".utf8), "näme"), ([0xFF, 0x61, 0x80], #"\xffa\x80"#),
            ([0xC3], #"\xc3"#), (Array("ä".utf8) + [0xC3], #"ä\xc3"#), ([], ""),
            // Half of a surrogate, and an overlong slash.
            ([0xED, 0xA0, 0x80], #"\xed\xa0\x80"#), ([0xC0, 0xAF], #"\xc0\xaf"#),
        ] as [([UInt8], String)])
    func description(_ bytes: [UInt8], _ shown: String) {
        #expect(FilePath(bytes: bytes).description == shown)
        #expect(SystemError("open", path: FilePath(bytes: bytes), code: ENOENT).path == shown)
    }

    @Test("A path with a zero byte names nothing, and not the file of its beginning")
    func zero() throws {
        let directory = try TemporaryDirectory()
        let path = FilePath(bytes: Array(directory.path.utf8) + [0] + Array("more".utf8))
        #expect(try FileStatus.of(path) == nil)
        #expect(throws: SystemError.self) { _ = try OwnedDescriptor(opening: path, flags: O_RDONLY) }
        #expect(try FileStatus.of(FilePath(directory.path)) != nil)
    }

    @Test("A directory lists, opens, renames and removes a name that is not UTF-8, and no other")
    func directory() throws {
        let place = try TemporaryDirectory()
        let directory = try OpenDirectory(place.path)
        // The name that a repaired conversion would give.
        for name in [Self.latin1, "caf\u{FFFD}"] {
            let file = try directory.open(name, flags: O_WRONLY | O_CREAT | O_EXCL)
            try name.bytes.withUnsafeBytes { try file.write($0, path: "file") }
        }
        let names = try directory.entries()
        #expect(names.map(\.kind) == [.file, .file] && Set(names.map(\.name)) == [Self.latin1, "caf\u{FFFD}"])
        let read = try directory.open(Self.latin1, flags: O_RDONLY)
        #expect(try read.read(upTo: 16, path: "file") == Self.latin1.bytes)
        #expect(try FileStatus.of("\(directory.path)/\(Self.latin1)")?.size == 4)
        try directory.makeDirectory("sub")
        try directory.rename("sub", to: FilePath(bytes: [0xE4]))
        try directory.removeDirectory(FilePath(bytes: [0xE4]))
        try directory.remove(Self.latin1)
        #expect(try directory.entries().map(\.name) == ["caf\u{FFFD}"])
    }

    @Test("A child process gets arguments and variables byte for byte")
    func child() throws {
        let place = try TemporaryDirectory()
        let script = #"printf %s "$1$LATCHKEY_TEST_BYTES" > "$0/out""#
        // The variable is set by a shell of its own: an environment is one of a process.
        let outer = #"LATCHKEY_TEST_BYTES=$(printf '\344') exec sh -c "$2" "$0" "$1""#
        let words = ["sh", "-c", outer, place.path].map { Array($0.utf8) } + [Self.latin1.bytes, Array(script.utf8)]
        #expect(try ChildProcess.run(words, input: UnsafeRawBufferPointer(start: nil, count: 0)) == 0)
        #expect(try BoundedFile.read("\(place.path)/out", limit: 100) == Self.latin1.bytes + [0xE4])
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainModel
import KeychainTesting
import LatchkeyCommands
import LinuxSystem
import Testing

/// Files with names that are not UTF-8: a command acts on the named file, or refuses; never on another one.
@Suite("Names that are not UTF-8")
struct PathBytesTests {
    /// "é" in Latin-1: the end of each name.
    private static let end: [UInt8] = [0xE9]

    /// A keychain, and a directory with a name that is not UTF-8.
    private struct Place {
        let keychain: TestKeychain
        let outer: TemporaryDirectory
        let directory: FilePath

        init() throws {
            keychain = try TestKeychain(.onDisk)
            outer = try TemporaryDirectory()
            directory = FilePath(bytes: Array("\(outer.path)/r".utf8) + PathBytesTests.end)
            try OpenDirectory(outer.path).makeDirectory(directory.lastComponent ?? "")
        }

        func path(_ name: String) -> FilePath { FilePath(bytes: directory.bytes + Array("/\(name)".utf8) + end) }

        func write(_ text: String, _ path: FilePath) throws {
            let file = try OwnedDescriptor(opening: path, flags: O_WRONLY | O_CREAT | O_TRUNC)
            try Array(text.utf8).withUnsafeBytes { try file.write($0, path: "file") }
        }

        func read(_ path: FilePath) throws -> [UInt8]? { try BoundedFile.read(path, limit: 1 << 20) }

        /// Everything below the outer directory, as bytes.
        func names(_ place: FilePath? = nil) throws -> Set<FilePath> {
            let directory = try OpenDirectory(followingLinks: place ?? FilePath(outer.path))
            var names: Set<FilePath> = []
            for entry in try directory.entries() {
                let path = directory.path(of: entry.name)
                names.insert(path)
                if entry.kind == .directory { names.formUnion(try self.names(path)) }
            }
            return names
        }

        func run(_ program: CommandWord, _ words: [String], _ paths: FilePath..., io: TestIO = TestIO()) -> Outcome {
            keychain.security(
                words.map { CommandWord($0) } + paths.map { CommandWord(bytes: $0.bytes) }, as: program, io: io)
        }
    }

    @Test("protect --recursive protects such files, and the other commands open them")
    func protect() throws {
        let place = try Place()
        let (file, sub) = (place.path("caf"), place.path("sub"))
        try OpenDirectory(place.directory).makeDirectory(sub.lastComponent ?? "")
        let inner: FilePath = "\(sub)/\(FilePath(bytes: [0xFC]))"
        for path in [file, inner, "\(sub)/plain name"] { try place.write("secret of \(path)", path) }
        let names = try place.names()
        let done = place.run("latchkey", ["protect", "--recursive", "--class", "complete"], place.directory)
        #expect(done.exit == 0 && done.output.contains(#"caf\xe9"#) && done.output.contains(#"\xfc"#), "\(done)")
        #expect(try place.names() == names)
        for path in [file, inner, "\(sub)/plain name"] {
            #expect(try place.read(path)?.starts(with: "secret".utf8) == false)
            #expect(place.run("latchkey", ["cat"], path).output == "secret of \(path)")
        }
        let status = place.run("latchkey", ["protect", "status", "--recursive"], place.directory)
        #expect(status.exit == 0 && status.output.split(separator: "\n").count == 3, "\(status)")
        #expect(place.run("latchkey", ["protect", "rekey", "--new-keys"], file).exit == 0)
        #expect(place.run("latchkey", ["cat"], file).output == "secret of \(file)")
        #expect(place.run("latchkey", ["unprotect", "--recursive"], place.directory).exit == 0)
        #expect(try place.read(inner) == Array("secret of \(inner)".utf8))
        #expect(try place.names() == names)
    }

    @Test("A file is moved into the keychain and out of it under its own name")
    func move() throws {
        let place = try Place()
        let file = place.path("scan")
        try place.write("content", file)
        let stored = place.run("latchkey", ["protect", "move", "--to-keychain", "scans/one"], file)
        #expect(stored.exit == 0, "\(stored)")
        #expect(try place.read(file) == nil)
        #expect(place.run("latchkey", ["protect", "move", "--from-keychain", "scans/one"], file).exit == 0)
        #expect(try place.read(file) == Array("content".utf8))
        #expect(try place.names() == [place.directory, file])
    }

    @Test("A policy is written into such a directory, and found from it")
    func policy() throws {
        let place = try Place()
        let done = place.run("latchkey", ["protect", "--policy", "--class", "complete"], place.directory)
        #expect(done.exit == 0, "\(done)")
        #expect(try place.names() == [place.directory, "\(place.directory)/.latchkey-protect"])
    }

    @Test("Files written and read by such a name have that name, and no file has another")
    func written() throws {
        let place = try Place()
        let (key, keychain, backup) = (place.path("key"), place.path("export"), place.path("backup"))
        let phrase = place.path("phrase")
        try place.write("quartz-lantern-83-otter\n", phrase)
        #expect(phrase.withCString { chmod($0, 0o600) } == 0)
        var expected: Set<FilePath> = [place.directory, phrase]
        let made = place.run("latchkey", ["key", "generate", "--type", "ec", "--tag", "k", "--keep-public"])
        #expect(made.exit == 0, "\(made)")
        for (path, words) in [
            (key, ["latchkey", "key", "public", "--tag", "k", "-o"]),
            (keychain, ["security", "export", "-t", "pubKeys", "-o"]),
        ] {
            let done = place.run(CommandWord(words[0]), Array(words.dropFirst()), path)
            #expect(done.exit == 0, "\(done)")
            #expect(try place.read(path)?.isEmpty == false)
            expected.insert(path)
            #expect(try place.names() == expected)
            let again = place.run(CommandWord(words[0]), Array(words.dropFirst()), path)
            #expect(again.exit != 0 && again.error.contains(#"\xe9"#), "\(again)")
        }
        let save = place.keychain.security(
            [
                CommandWord("backup"), "--passphrase-file", CommandWord(bytes: phrase.bytes),
                CommandWord(bytes: backup.bytes),
            ],
            as: "latchkey")
        #expect(save.exit == 0, "\(save)")
        expected.insert(backup)
        #expect(try place.names() == expected)
        let restore = place.keychain.security(
            [
                "restore", "--dry-run", "--passphrase-file", CommandWord(bytes: phrase.bytes),
                CommandWord(bytes: backup.bytes),
            ],
            as: "latchkey")
        #expect(restore.exit == 0, "\(restore)")
        let read = place.run("latchkey", ["key", "public", "--key-file"], key)
        #expect(read.exit == 0 && read.output.contains("PUBLIC KEY"), "\(read)")
        let secret = place.run("latchkey", ["set", "a/b", "--secret-file"], phrase)
        #expect(secret.exit == 0, "\(secret)")
    }

    @Test("A name that only text can be is refused, and nothing has another name")
    func refused() throws {
        let place = try Place()
        let name = FilePath(bytes: Array("name".utf8) + Self.end)
        for (program, words, exit) in [
            ("latchkey", ["get"], 2), ("latchkey", ["list", "--access-group"], 2), ("latchkey", ["ats", "lint"], 2),
            ("security", ["create-keychain", "-p", "x"], nil),
            ("security", ["find-generic-password", "--access-group"], 2),
        ] as [(CommandWord, [String], Int32?)] {
            let done = place.run(program, words, name)
            #expect(done.exit != 0 && exit.map { $0 == done.exit } ?? true, "\(words): \(done)")
            #expect(done.error.contains(#"name\xe9"#) || done.error.contains("must be UTF-8"), "\(words): \(done)")
        }
        let keychains = place.run("security", ["list-keychains"])
        #expect(!keychains.output.contains("\u{FFFD}"))
    }

    @Test("Text that looks like an escaped byte is not one")
    func escapes() throws {
        let place = try Place()
        // The scalar that stands for E9 between the command line and its parser.
        let file: FilePath = "\(place.directory)/\u{10FEE9}"
        try place.write("content", file)
        #expect(place.run("latchkey", ["protect", "--class", "complete"], file).exit == 0)
        #expect(place.run("latchkey", ["cat"], file).output == "content")
        #expect(try place.names() == [place.directory, file])
        #expect(place.run("latchkey", ["get"], "a/\u{10FEE9}").exit == 44)
        let refused = place.run("latchkey", ["key", "public", "--tag"], "\u{10FEE9}")
        #expect(refused.exit == 2 && refused.error.contains("takes only text there"), "\(refused)")
    }

    @Test("Programs that a command starts get their arguments and environment byte for byte")
    func children() throws {
        let shell = try Shell()
        let run = try shell.run(
            #"""
            name=$(printf 'caf\351'); export VARIABLE="$name"
            latchkey with-passcode -- sh -c 'printf %s "$1$VARIABLE" | od -An -tx1 | tr -d " \n"' sh "$name"
            """#)
        #expect(run.exit == 0 && run.output == "636166e9636166e9", "\(run)")
    }

    @Test("A passcode file of the environment may have any name; a home must be UTF-8, and no other one is used", .long)
    func environment() throws {
        let shell = try Shell()
        let run = try shell.run(
            #"""
            cd "$(dirname "$LATCHKEY_HOME")"; name=$(printf 'caf\351')
            printf 'correct horse battery\n' > "$name"; chmod 600 "$name"
            latchkey passcode set --passcode-file "$name" || exit 1
            export LATCHKEY_PASSCODE_FILE="$PWD/$name"
            printf s3cret | latchkey set a/b || exit 2
            latchkey get a/b | grep -q s3cret || exit 3
            LATCHKEY_HOME="$PWD/$name-home" latchkey list && exit 4
            env -u LATCHKEY_HOME HOME="$PWD/$name-home" latchkey list && exit 5
            ls -d "$PWD"/*-home "$PWD"/*home* | grep -vx "$PWD/home" && exit 6
            exit 0
            """#)
        #expect(run.exit == 0, "\(run)")
        #expect(run.error.components(separatedBy: "HOME is not UTF-8").count == 3, "\(run)")
    }
}

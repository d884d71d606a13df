// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// The calls for files, without protection.
struct FilePromises {
    private let directory: URL

    init(_ directory: URL) { self.directory = directory }

    func run() {
        umask(0o027)
        data()
        names()
        texts()
        handles()
        manager()
    }

    private func url(_ name: String) -> URL { directory.appending(path: name) }
    private func path(_ name: String) -> String { url(name).path }

    /// The kind, the permissions and the bytes of a file, from the system itself.
    private func stored(_ name: String) -> String {
        var status = stat()
        guard lstat(path(name), &status) == 0 else { return "missing" }
        let kind = status.st_mode & S_IFMT == S_IFLNK ? "link" : "file"
        let bytes = NSData(contentsOfFile: path(name)).map { Array(Data(referencing: $0)) }
        return "\(kind) \(String(status.st_mode & 0o7777, radix: 8)) \(status.st_nlink) \(bytes ?? [])"
    }

    private func data() {
        let (one, two) = (Data("one".utf8), Data("two".utf8))
        say("write") { try one.write(to: url("a")) }
        say("written") { stored("a") }
        say("overwrite") { try two.write(to: url("a"), options: .atomic) }
        say("overwritten") { stored("a") }
        say("without overwriting") { try one.write(to: url("a"), options: .withoutOverwriting) }
        say("kept") { stored("a") }
        say("missing directory") { try one.write(to: url("none/a")) }
        say("a directory") { try one.write(to: directory) }
        chmod(path("a"), 0o600)
        link(path("a"), path("hard"))
        symlink("a", path("soft"))
        say("through a link") { try one.write(to: url("soft")) }
        say("linked") { [stored("soft"), stored("a"), stored("hard")] }
        say("atomically through a link") { try two.write(to: url("soft"), options: .atomic) }
        say("linked") { [stored("soft"), stored("a"), stored("hard")] }
        say("no scheme of a file") { try one.write(to: URL(string: "ftp://localhost/a") ?? directory) }
        say("read") { try Array(Data(contentsOf: url("a"))) }
        say("read mapped") { try Array(Data(contentsOf: url("a"), options: .alwaysMapped)) }
        say("read missing") { try Data(contentsOf: url("none")) }
        say("read a directory") { try Data(contentsOf: directory) }
        say("read a device") { try Data(contentsOf: URL(filePath: "/dev/null")) }
        say("read data") { try Data(contentsOf: URL(string: "data:text/plain,abc") ?? directory) }
        say("mark") { try Data("LATCHKEY is a text".utf8).write(to: url("mark")) }
        say("read mark") { try Data(contentsOf: url("mark")).count }
        chdir(directory.path)
        say("relative") { try one.write(to: URL(fileURLWithPath: "relative")) }
        say("relative") { try Array(Data(contentsOf: URL(fileURLWithPath: "relative"))) }
        say("large") { try Data(count: 3_000_000).write(to: url("large")) }
        say("large") { try Data(contentsOf: url("large")).count }
    }

    private func names() {
        for name in ["caf%E9", "a%00b", "%20"] {
            let url = URL(string: "file://\(directory.path)/names/\(name)") ?? directory
            say("name \(name)") { try Data("x".utf8).write(to: url) }
            say("name \(name)") { try Array(Data(contentsOf: url)) }
        }
        mkdir(path("names"), 0o700)
        for name in ["caf%E9", "a%00b", "%20"] {
            let url = URL(string: "file://\(directory.path)/names/\(name)") ?? directory
            say("name \(name)") { try Data("x".utf8).write(to: url) }
            say("name \(name)") { try Array(Data(contentsOf: url)) }
        }
        say("names") { try FileManager.default.contentsOfDirectory(atPath: path("names")).sorted() }
    }

    private func texts() {
        let text = "grüße"
        for encoding in [String.Encoding.utf8, .utf16, .isoLatin1, .ascii, .utf32LittleEndian] {
            for atomically in [true, false] {
                say("text \(encoding.rawValue)") {
                    try text.write(to: url("text"), atomically: atomically, encoding: encoding)
                }
                say("text") { stored("text") }
            }
            say("part") { try text.dropFirst().write(toFile: path("part"), atomically: true, encoding: encoding) }
            say("part") { stored("part") }
            say("text of url") { try String(contentsOf: url("text"), encoding: encoding) }
            say("text of path") { try String(contentsOfFile: path("text"), encoding: encoding) }
            var used = String.Encoding.ascii
            say("used of url") { (try String(contentsOf: url("text"), usedEncoding: &used), used.rawValue) }
            say("used of path") { (try String(contentsOfFile: path("text"), usedEncoding: &used), used.rawValue) }
        }
        say("another encoding") { try String(contentsOf: url("large"), encoding: .utf16).count }
        say("missing directory") { try text.write(toFile: path("none/a"), atomically: true, encoding: .utf8) }
        say("missing") { try String(contentsOfFile: path("none"), encoding: .utf8) }
        say("mark") { try String(contentsOf: url("mark"), encoding: .utf8) }
        say("mark in another encoding") { try String(contentsOf: url("mark"), encoding: .utf16).count }
    }

    private func handles() {
        say("handle") { try FileHandle(forReadingFrom: url("a")).readToEnd().map { Array($0) } }
        say("handle at path") { FileHandle(forReadingAtPath: path("a"))?.availableData.count }
        say("missing handle") { try FileHandle(forReadingFrom: url("none")) }
        say("missing handle at path") { FileHandle(forReadingAtPath: path("none")) }
        say("writing") {
            let handle = try FileHandle(forWritingTo: url("a"))
            try handle.seek(toOffset: 1)
            try handle.write(contentsOf: Data("-".utf8))
            try handle.close()
            return stored("a")
        }
        say("writing at path") { FileHandle(forWritingAtPath: path("none")) }
        say("updating") { try FileHandle(forUpdating: url("a")).readToEnd().map { Array($0) } }
        say("updating at path") { FileHandle(forUpdatingAtPath: path("a"))?.availableData.count }
        say("write to a reading handle") {
            try FileHandle(forReadingFrom: url("a")).write(contentsOf: Data("x".utf8))
        }
        mkfifo(path("fifo"), 0o600)
        say("a pipe") {
            let reader = open(path("fifo"), O_RDONLY | O_NONBLOCK)
            defer { close(reader) }
            try FileHandle(forWritingTo: url("fifo")).write(contentsOf: Data("piped".utf8))
            var bytes = [UInt8](repeating: 0, count: 10)
            return (read(reader, &bytes, 10), bytes)
        }
    }

    private func manager() {
        let manager = FileManager.default
        say("same manager") { manager === FileManager.default }
        say("create") { manager.createFile(atPath: path("made"), contents: Data("made".utf8)) }
        say("created") { stored("made") }
        say("create with a mode") {
            manager.createFile(atPath: path("mode"), contents: nil, attributes: [.posixPermissions: 0o640])
        }
        say("created") { stored("mode") }
        say("create in none") { manager.createFile(atPath: path("none/made"), contents: nil) }
        say("contents") { manager.contents(atPath: path("made")).map { Array($0) } }
        say("contents of none") { manager.contents(atPath: path("none")) }
        say("set") { try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path("made")) }
        say("set") { stored("made") }
        say("set none") { try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path("none")) }
        for name in ["made", "soft", "names"] {
            say("attributes") {
                let found = try manager.attributesOfItem(atPath: path(name))
                return (
                    found.keys.map(\.rawValue).sorted(), found[.size], found[.type], found[.posixPermissions]
                )
            }
        }
        say("attributes of none") { try manager.attributesOfItem(atPath: path("none")) }
        say("directory") {
            try manager.createDirectory(atPath: path("x/y"), withIntermediateDirectories: true, attributes: nil)
        }
        say("directory") {
            try manager.createDirectory(
                at: url("x/z"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        }
        say("directory again") { try manager.createDirectory(at: url("x"), withIntermediateDirectories: false) }
        say("copy") { try manager.copyItem(atPath: path("made"), toPath: path("copied")) }
        say("copied") { stored("copied") }
        say("move") { try manager.moveItem(at: url("copied"), to: url("moved")) }
        say("remove") { try manager.removeItem(at: url("moved")) }
        say("all") { try manager.contentsOfDirectory(atPath: directory.path).sorted() }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Latchkey

/// The calls for files, with protection.
struct ProtectionPromises {
    private let directory: URL
    private let secret = Data("a secret of the app".utf8)

    init(_ directory: URL) { self.directory = directory }

    func run() {
        write()
        read("open")
        keep()
        manager()
        say("passcode") { try Keychain.default.setPasscode("correct horse") }
        say("lock") { try Keychain.default.lock(immediately: true) }
        read("locked")
        say("write complete while locked") { try secret.write(to: url("new"), options: .completeFileProtection) }
        say("new") { stored("new") }
        say("write unless open while locked") {
            try secret.write(to: url("new"), options: .completeFileProtectionUnlessOpen)
        }
        say("read unless open while locked") { try Data(contentsOf: url("new")) }
        say("unlock") { try Keychain.default.unlock(passcode: "correct horse") }
        say("read unless open") { try text(Data(contentsOf: url("new"))) }
        damaged()
    }

    private func url(_ name: String) -> URL { directory.appending(path: name) }
    private func path(_ name: String) -> String { url(name).path }
    private func text(_ data: Data?) -> String? { data.map { String(decoding: $0, as: UTF8.self) } }

    /// The class of a file, and whether its bytes on the disk show the content.
    private func stored(_ name: String) -> String {
        guard let bytes = NSData(contentsOfFile: path(name)).map({ Data(referencing: $0) }) else { return "missing" }
        let protection = (try? ProtectedFile.protection(of: path(name)))?.name ?? "plain"
        return "\(protection)\(bytes.range(of: Data("secret".utf8)) == nil ? "" : ", readable")"
    }

    private func write() {
        let options: [(String, Data.WritingOptions)] = [
            ("complete", .completeFileProtection), ("unless", [.atomic, .completeFileProtectionUnlessOpen]),
            ("first", .completeFileProtectionUntilFirstUserAuthentication), ("none", .noFileProtection),
            ("plain", .atomic), ("unknown", Data.WritingOptions(rawValue: 0x7000_0000)),
        ]
        for (name, options) in options {
            say("write \(name)") { try secret.write(to: url(name), options: options) }
            say(name) { stored(name) }
        }
        let name = URL(string: "file://\(directory.path)/caf%E9") ?? directory
        say("a name that is not UTF-8") { try secret.write(to: name, options: .completeFileProtection) }
    }

    private func read(_ state: String) {
        for name in ["complete", "first", "plain"] {
            say("\(state) \(name) data") { try text(Data(contentsOf: url(name))) }
            say("\(state) \(name) text") { try String(contentsOf: url(name), encoding: .utf8) }
            say("\(state) \(name) text of path") { try String(contentsOfFile: path(name), encoding: .isoLatin1) }
            say("\(state) \(name) text in UTF-16") { try String(contentsOf: url(name), encoding: .utf16).count }
            var used = String.Encoding.utf16
            say("\(state) \(name) used") { (try String(contentsOf: url(name), usedEncoding: &used), used.rawValue) }
            say("\(state) \(name) handle") { try text(FileHandle(forReadingFrom: url(name)).readToEnd()) }
            say("\(state) \(name) contents") { text(FileManager.default.contents(atPath: path(name))) }
            say("\(state) \(name) size") { try FileManager.default.attributesOfItem(atPath: path(name))[.size] }
        }
    }

    private func keep() {
        say("overwrite") { try Data("a new secret".utf8).write(to: url("complete")) }
        say("complete") { stored("complete") }
        say("overwrite with text") {
            try "a third secret".write(to: url("complete"), atomically: true, encoding: .utf8)
        }
        say("complete") { stored("complete") }
        say("overwrite at path") {
            try "a secret of the app".write(toFile: path("complete"), atomically: false, encoding: .utf8)
        }
        say("complete") { stored("complete") }
        say("without overwriting") {
            try secret.write(to: url("complete"), options: [.withoutOverwriting, .completeFileProtection])
        }
        say("writing handle") { try FileHandle(forWritingTo: url("complete")) }
        say("updating handle") { try FileHandle(forUpdating: url("complete")) }
        say("write to a reading handle") {
            try FileHandle(forReadingFrom: url("complete")).write(contentsOf: Data("x".utf8))
        }
        say("complete") { stored("complete") }
    }

    private func manager() {
        let manager = FileManager.default
        say("create") {
            manager.createFile(
                atPath: path("made"), contents: secret, attributes: [.protectionKey: FileProtectionType.complete])
        }
        say("made") { stored("made") }
        say("create with an unknown class") {
            manager.createFile(atPath: path("other"), contents: secret, attributes: [.protectionKey: "Other"])
        }
        say("other") { stored("other") }
        say("protect") {
            try manager.setAttributes(
                [.protectionKey: FileProtectionType.completeUnlessOpen, .posixPermissions: 0o640],
                ofItemAtPath: path("plain"))
        }
        say("plain") { stored("plain") }
        say("attributes") {
            let found = try manager.attributesOfItem(atPath: path("plain"))
            return (found[.protectionKey], found[.size], found[.posixPermissions])
        }
        say("directory") {
            try manager.createDirectory(
                at: url("folder"), withIntermediateDirectories: false,
                attributes: [.protectionKey: FileProtectionType.complete])
        }
        for (name, body) in [
            ("data", { try secret.write(to: url("folder/data")) }),
            ("text", { try "a secret".write(to: url("folder/text"), atomically: true, encoding: .utf8) }),
            ("file", { _ = manager.createFile(atPath: path("folder/file"), contents: secret) }),
        ] as [(String, () throws -> Void)] {
            say("in the directory") { try body() }
            say(name) { stored("folder/\(name)") }
        }
        say("unprotect") {
            try manager.setAttributes([.protectionKey: FileProtectionType.none], ofItemAtPath: path("plain"))
        }
        say("plain") { stored("plain") }
    }

    /// A protected file with a changed version: an error, and never its bytes.
    private func damaged() {
        guard let bytes = NSData(contentsOfFile: path("complete")).map({ Data(referencing: $0) }) else { return }
        for offset in [9, 40, bytes.count - 1] {
            var changed = bytes
            for header in stride(from: offset, to: min(offset + 4097, bytes.count), by: 4096) {
                changed[header] ^= 0x20
            }
            _ = (changed as NSData).write(toFile: path("changed"), atomically: false)
            say("changed at \(offset)") { try text(Data(contentsOf: url("changed"))) }
            say("text of changed") { try String(contentsOf: url("changed"), encoding: .isoLatin1) }
        }
    }
}

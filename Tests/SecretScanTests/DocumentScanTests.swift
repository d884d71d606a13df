// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LinuxSystem
@testable import SecretScan
import Testing

@Suite("Documents in documents, encodings and limits")
struct DocumentScanTests {
    private static let secret = Array("password = x8Kd02q-lpA7\n".utf8)

    private func scan(_ bytes: [UInt8], _ name: String, _ limits: ScanLimits = ScanLimits()) -> ScanReport {
        SecretScanner(limits).scan(bytes, name: name)
    }

    @Test("The place names each document on the way, and the encodings")
    func place() throws {
        let inner = ArchiveMaker.tar([("etc/app.ini", Self.secret)])
        let report = scan(ArchiveMaker.zip([("data/backup.tar.gz", ArchiveMaker.gzip(inner))]), "all.zip")
        #expect(report.problems.isEmpty)
        #expect(
            try #require(report.findings.first).place.names == [
                "all.zip", "data/backup.tar.gz", "backup.tar", "etc/app.ini",
            ])
        let encoded = Data(Self.secret).base64EncodedString()
        let finding = try #require(scan(Array("a\nb \(encoded)".utf8), "a.txt").findings.first)
        #expect(finding.place.encodings == ["base64"] && finding.place.line == 2 && finding.place.column == 3)
    }

    @Test("A document in a format that is not read is a problem, also in another one")
    func unread() {
        let starts: [(String, [UInt8])] = [
            ("bzip2", Array("BZh9".utf8) + [0x31, 0x41, 0x59, 0x26, 0x53, 0x59]),
            ("xz", [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0]),
            ("zstd", [0x28, 0xB5, 0x2F, 0xFD]), ("7z", [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C]),
            ("Debian package", Array("!<arch>\ndebian-binary   1".utf8)),
        ]
        for (name, bytes) in starts {
            let inner = bytes + Self.secret
            for report in [scan(inner, "a.bin"), scan(ArchiveMaker.tar([("a.bin", inner)]), "a.tar")] {
                #expect(report.findings.isEmpty && report.problems.map(\.reason) == ["the format \(name) is not read"])
            }
        }
        #expect(scan(Array("BZhello\n".utf8) + Self.secret, "a.ini").findings.count == 1)
    }

    @Test("The bytes that another text can replace are those of the secret; in a URL, all of it")
    func replacement() throws {
        func replaced(_ text: String, _ name: String) -> [String] {
            let bytes = Array(text.utf8)
            return scan(bytes, name).findings.map { finding in
                switch finding.replacement {
                case .possible(let range): String(decoding: bytes[range], as: UTF8.self)
                case .impossible(let reason): "(\(reason))"
                }
            }
        }
        #expect(replaced("a = 1\npassword = x8Kd02q-lpA7\n", "a.ini") == ["x8Kd02q-lpA7"])
        let url = "mysql+ssl://me:x8Kd02q-lpA7@db.shop.test/a?b=c&d=e"
        #expect(replaced("u='\(url)' # x\n", "a.env") == [url])
        #expect(replaced("u=jdbc:\(url)\n", "a.env") == ["jdbc:\(url)"])
        #expect(replaced("password = \"x8Kd02q-lpA7\"\n", "a.rb") == ["(it is in code)"])
        #expect(replaced("p\0password = \"x8Kd02q-lpA7Zq1\"\0", "core") == ["(the file is not text)"])
        #expect(replaced("password: \"x8Kd\\u0030lpA7Zq1\"\n", "a.yaml") == [])
        #expect(
            replaced("password: \"x8Kd\\tlpA7Zq1\"\n", "a.yaml") == [
                "(it is a part of a value, or written with escapes)"
            ])
    }

    @Test("A long key of a property list is scanned, and not shown")
    func listKeys() throws {
        let token = "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"
        let list = try PropertyListSerialization.data(
            fromPropertyList: ["sessions": [token: ["password": "x8Kd02q-lpA7Zq13"]]], format: .binary, options: 0)
        let report = scan(Array(list), "a.plist")
        #expect(Set(report.findings.map(\.kind.id)) == ["github-token", "named-value"], "\(report.findings)")
        #expect(report.findings.allSatisfy { !$0.place.names.joined().contains("wWPw5k4a") })
    }

    @Test("Repeated beginnings of keys and commands cost at most 30 times as much as other text")
    func repeatedBeginnings() throws {
        func seconds(_ text: String) throws -> Double {
            let bytes = Array(String(repeating: text, count: (1 << 18) / text.utf8.count).utf8)
            let start = try #require(SystemTime.read(.thread))
            _ = scan(bytes, "a.txt")
            let end = try #require(SystemTime.read(.thread))
            return Double(end.seconds - start.seconds) + (Double(end.nanoseconds) - Double(start.nanoseconds)) / 1e9
        }
        let plain = try (0..<3).map { _ in try seconds("token: some words of a text, ") }.max() ?? 0
        for text in [
            "-----BEGIN PRIVATE KEY-----", "mysql ", "sshpass -", "curl -u ", "PuTTY-User-Key-File-Encryption: none ",
        ] {
            let time = try seconds(text)
            #expect(time < plain * 30, "\(text): \(time), \(plain)")
        }
    }

    @Test("The processor time for a file is limited")
    func time() {
        var limits = ScanLimits()
        limits.maxSeconds = -1
        let report = scan(Self.secret, "a.ini", limits)
        #expect(report.findings.isEmpty)
        #expect(report.problems.map(\.reason) == ["scanning takes too long for its length; the rest was not scanned"])
    }

    @Test("In a text of several parts, the bytes are counted from the beginning of the file")
    func replacementInParts() throws {
        let directory = try TemporaryDirectory()
        let filler = String(repeating: "nothing to see here\n", count: 600_000)
        let text = filler + "password = x8Kd02q-lpA7\n" + filler
        let path = "\(directory.path)/a.ini"
        try Data(text.utf8).write(to: URL(filePath: path))
        let findings = try SecretScanner().scan(file: FilePath(path)).findings
        let start = filler.utf8.count + 11
        #expect(findings.map(\.replacement) == [.possible(start..<start + 12)])
    }

    @Test("Encodings are undone in each other, to the depth of the limits")
    func nesting() {
        var (text, limits) = (Self.secret, ScanLimits())
        limits.maxDepth = 4
        for depth in 1...6 {
            text = Array(Data(text).base64EncodedString().utf8)
            let report = scan(text, "a.txt", limits)
            #expect(report.findings.count == (depth <= 4 ? 1 : 0), "\(depth)")
            #expect(
                report.problems.map(\.reason)
                    == (depth <= 4 ? [] : ["documents in more than 4 others were not scanned"]))
        }
    }

    @Test("Archives that are cut off, encrypted or damaged are named, and the other files are scanned")
    func damage() {
        let files = [("a.ini", Self.secret), ("b.ini", Self.secret)]
        var archive = ArchiveMaker.zip(files)
        let position = archive.firstRange(of: Array("a.ini".utf8))?.upperBound ?? 0
        archive[position + 2] ^= 0xFF
        let report = scan(archive, "a.zip")
        #expect(report.findings.count == 1 && report.problems.count == 1)
        #expect(!scan(Array(ArchiveMaker.zip(files).dropLast(30)), "b.zip").problems.isEmpty)
        #expect(!scan(Array(ArchiveMaker.gzip(Self.secret).dropLast(9)), "c.gz").problems.isEmpty)
        #expect(
            !scan(Array(ArchiveMaker.tar([("a", [UInt8](repeating: 1, count: 9000))]).prefix(2000)), "d.tar").problems
                .isEmpty)
    }

    @Test("A bomb, a deep archive and one with many files end with a named limit")
    func limits() {
        var limits = ScanLimits()
        (limits.maxDecodedLength, limits.maxDocuments) = (1 << 20, 50)
        let bomb = ArchiveMaker.gzip([UInt8](repeating: 0x20, count: 4 << 20))
        #expect(bomb.count < 10_000)
        #expect(scan(bomb, "bomb.gz", limits).problems.contains { $0.reason.contains("longer than the limit") })
        let many = ArchiveMaker.zip((0..<80).map { ("f\($0)", Self.secret) })
        #expect(scan(many, "many.zip", limits).problems.contains { $0.reason.contains("50 documents") })
        var nested = Self.secret
        for _ in 0..<12 { nested = ArchiveMaker.zip([("inner.zip", nested)]) }
        #expect(scan(nested, "deep.zip").problems.contains { $0.reason.contains("documents in more than 8 others") })
        limits.maxFindings = 3
        let lines = (0..<10).flatMap { Array("password\($0) = x8Kd02q-lpA\($0)\n".utf8) }
        #expect(scan(lines, "a.ini", limits).findings.count == 3)
    }

    @Test("A SQLite database is read with its log, and neither file changes")
    func database() throws {
        let (file, log) = SQLiteMaker.databaseWithLog(
            "CREATE TABLE settings (key TEXT, value TEXT)", "INSERT INTO settings VALUES ('password', 'x8Kd02q-lpA7')")
        let directory = FileManager.default.temporaryDirectory.appending(path: "latchkey-scan-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appending(path: "a.db").path
        try Data(file).write(to: URL(filePath: path))
        #expect(try SecretScanner().scan(file: FilePath(path)).findings.isEmpty)
        try Data(log).write(to: URL(filePath: path + "-wal"))
        let finding = try #require(try SecretScanner().scan(file: FilePath(path)).findings.first)
        #expect(finding.place.names.last == "settings.value row 1" && finding.name == "password")
        #expect(
            FileManager.default.contents(atPath: path) == Data(file)
                && FileManager.default.contents(atPath: path + "-wal") == Data(log))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() == ["a.db", "a.db-wal"])
    }

    @Test("A text of many parts is scanned as one: positions are right at every border")
    func parts() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "latchkey-scan-\(UUID().uuidString).ini").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let line = String(repeating: "a", count: 99) + "\n"
        var (text, expected) = ([UInt8](), [Int]())
        for number in 0..<130_000 {
            // Around the ends of the first parts, and far from them.
            if number % 1301 == 7 {
                expected.append(number + 1)
                text += Array("password = x8Kd02q-lp\(number)".utf8.prefix(99))
                text.append(0x0A)
            } else {
                text += Array(line.utf8)
            }
        }
        try Data(text).write(to: URL(filePath: path))
        #expect(try SecretScanner().scan(file: FilePath(path)).findings.map(\.place.line) == expected)
    }

    @Test("An archive that is too long to be read is named, and UTF-16 of many parts is read")
    func longFiles() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "latchkey-scan-\(UUID().uuidString).ini").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        var limits = ScanLimits()
        limits.maxDocumentLength = 1 << 20
        let archive = ArchiveMaker.zip([("a", [UInt8](repeating: 0x20, count: 5 << 20))], isCompressed: false)
        try Data(archive).write(to: URL(filePath: path))
        let report = try SecretScanner(limits).scan(file: FilePath(path))
        #expect(report.problems.map(\.reason) == ["documents of more than 1048576 bytes were not scanned as a whole"])
        let text = [UInt8](repeating: 0x0A, count: 3 << 20) + Self.secret
        try Data([0xFF, 0xFE] + text.flatMap { [$0, 0] }).write(to: URL(filePath: path))
        #expect(try SecretScanner().scan(file: FilePath(path)).findings.map(\.place.line) == [(3 << 20) + 1])
    }

    @Test(
        "A FIFO, a directory, a link and a missing file are errors, and nothing waits",
        arguments: ["fifo", "directory", "link", "missing"])
    func otherFiles(_ kind: String) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "latchkey-scan-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appending(path: "a").path
        switch kind {
        case "fifo": #expect(mkfifo(path, 0o600) == 0)
        case "directory": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        case "link": try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/etc/passwd")
        default: break
        }
        #expect(throws: SystemError.self) { try SecretScanner().scan(file: FilePath(path)) }
    }

    @Test("Random and truncated documents of every kind end with a report", arguments: 0..<60)
    func totality(_ seed: Int) {
        var corpus = PlantedCorpus(seed: UInt64(seed))
        for file in corpus.files(40) {
            var bytes = file.bytes
            for _ in 0..<6 where !bytes.isEmpty {
                let position = Int(corpus.bytes(2).reduce(0) { $0 << 8 | UInt64($1) }) % bytes.count
                bytes[position] = corpus.bytes(1)[0]
            }
            let report = scan(bytes, file.name)
            #expect(report.findings.count < 100)
            _ = scan(Array(bytes.prefix(bytes.count * seed / 60)), file.name)
        }
    }
}

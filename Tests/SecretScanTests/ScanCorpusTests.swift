// SPDX-License-Identifier: Apache-2.0

import Foundation
import LinuxSystem
@testable import SecretScan
import Testing

@Suite("Corpora with known answers")
struct ScanCorpusTests {
    @Test("Of 2,000 planted secrets, at least 98 % are found under one of their names")
    func recall() throws {
        var corpus = PlantedCorpus(seed: 42)
        #expect(PlantedCorpus.kinds >= 60)
        let missed = try corpus.files(2000).filter { try !Self.isFound($0) }
        let kinds = Dictionary(grouping: missed, by: \.kind).map { "\($0.key): \($0.value.count)" }.sorted()
        #expect(missed.count <= 40, "\(kinds)")
    }

    /// The directory for `make scanners`; nil without it.
    private static let output = ProcessInfo.processInfo.environment["LATCHKEY_PLANTED"]

    @Test("The planted secrets are written for other scanners", .enabled(if: output != nil))
    func write() throws {
        let output = URL(filePath: try #require(Self.output))
        var (corpus, lines) = (PlantedCorpus(seed: 42), "")
        for (index, file) in corpus.files(2000).enumerated() {
            let directory = output.appending(path: "files/\(index)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            try Data(file.bytes).write(to: directory.appending(path: file.name))
            if !file.log.isEmpty { try Data(file.log).write(to: directory.appending(path: file.name + "-wal")) }
            lines += "\(index)\t\(file.kind)\t\(file.expected.sorted().joined(separator: ","))\n"
        }
        try Data(lines.utf8).write(to: output.appending(path: "expected.tsv"))
    }

    static func isFound(_ file: PlantedFile) throws -> Bool {
        let report = file.log.isEmpty ? SecretScanner().scan(file.bytes, name: file.name) : try scanned(file)
        return report.findings.contains { file.expected.contains($0.kind.id) }
    }

    /// A database is scanned with the log beside it.
    private static func scanned(_ file: PlantedFile) throws -> ScanReport {
        let directory = FileManager.default.temporaryDirectory.appending(path: "latchkey-scan-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appending(path: file.name).path
        try Data(file.bytes).write(to: URL(filePath: path))
        try Data(file.log).write(to: URL(filePath: path + "-wal"))
        return try SecretScanner().scan(file: FilePath(path))
    }
}

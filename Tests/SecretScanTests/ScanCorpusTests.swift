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

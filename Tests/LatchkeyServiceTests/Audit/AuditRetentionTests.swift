// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@testable import LatchkeyService
import LinuxSystem
import Testing

/// Documentation/Formats/audit-log.md: the lines that are kept, how long, and the report about removed lines.
@Suite("Retention of the audit log")
struct AuditRetentionTests {
    private typealias Fixture = AuditLogTests.Fixture

    /// The decisions of an honest program, before other programs flood the log.
    private func remember(_ fixture: AuditLogTests.Fixture) throws {
        for number in 0..<20 {
            try fixture.log.append(
                Fixture.entry("/usr/bin/honest", operation: "add", group: "honest\(number)", status: .success))
        }
    }

    private func remembered(_ fixture: AuditLogTests.Fixture) throws -> Int {
        try fixture.objects().count { $0.program == "/usr/bin/honest" && $0.status == 0 }
    }

    @Test(
        "AUD-10: thousands of failed lookups of one program, each with another long name, do not displace the lines of other programs"
    )
    func oneProgram() throws {
        let fixture = try Fixture(
            limits: Fixture.limits(fileLength: 40_000, totalLength: 200_000, programLength: 10_000))
        try remember(fixture)
        let name = String(repeating: "\u{1B}", count: 4000)
        for number in 0..<3000 { try fixture.log.append(Fixture.entry(name, group: "\(number)" + name)) }
        fixture.log.close()
        #expect(try remembered(fixture) == 20)
        #expect(try fixture.totalLength() < 40_000)
        let refusals = try fixture.objects().filter { $0.status != 0 }
        #expect(refusals.reduce(0) { $0 + $1.decisions } == 3000)
        #expect(try fixture.log.verify().isIntact)
    }

    @Test(
        "AUD-11: refusals of more programs than the log can hold are removed before successes, and a gap reports how many"
    )
    func manyPrograms() throws {
        let fixture = try Fixture(limits: Fixture.limits(fileLength: 20_000, totalLength: 100_000))
        try remember(fixture)
        for number in 0..<1500 { try fixture.log.append(Fixture.entry("/tmp/flood\(number)", group: "G")) }
        #expect(try remembered(fixture) == 20)
        #expect(try fixture.totalLength() <= 120_000)
        let objects = try fixture.objects()
        let gaps = objects.filter { $0.operation == "gap" }
        #expect(!gaps.isEmpty && gaps.allSatisfy { $0.reason == "refusals" })
        #expect(objects.filter { $0.status != 0 || $0.operation == "gap" }.reduce(0) { $0 + $1.decisions } == 1500)
        for restarts in [false, true] {
            if restarts { try fixture.restart(orderly: false) }
            let verdict = try fixture.log.verify()
            #expect(verdict.isIntact, "\(verdict)")
            #expect(verdict.removals.allSatisfy { $0.reason == .refusals } && !verdict.removals.isEmpty)
        }
        // The numbers of the lines around a gap are consecutive.
        for (line, next) in zip(objects, objects.dropFirst()) where line.operation == "gap" {
            #expect(line.from == line.sequence && next.sequence == (line.to ?? 0) + 1)
        }
    }

    @Test("AUD-11: if there are too many successes, the oldest file is removed before its time, and a line reports it")
    func successes() throws {
        let fixture = try Fixture(limits: Fixture.limits(fileLength: 20_000, totalLength: 100_000))
        try remember(fixture)
        for number in 0..<1500 {
            try fixture.log.append(Fixture.entry("/tmp/flood\(number)", group: "G", status: .success))
        }
        #expect(try fixture.totalLength() <= 120_000)
        let verdict = try fixture.log.verify()
        #expect(verdict.isIntact, "\(verdict)")
        let newest = try #require(verdict.removals.last)
        let first = try #require(try fixture.objects().first)
        #expect(newest.reason == .size && newest.last + 1 == first.sequence)
        #expect(newest.since == 1_795_348_800 && newest.until == 1_795_348_800 && newest.removed == 1_795_348_800)
        let rotations = try fixture.objects().filter { $0.operation == "rotate" }
        #expect(rotations.contains { $0.reason == "size" && $0.to == newest.last })
    }

    @Test(
        "AUD-11: the log covers the minimum age if its size allows that, and no more than its size allows",
        arguments: [29, 31])
    func age(_ days: Int) throws {
        let fixture = try Fixture(limits: Fixture.limits(fileLength: 5000, totalLength: 30_000))
        try remember(fixture)
        fixture.clock.advance(by: Double(days) * 86400)
        for number in 0..<120 { try fixture.log.append(Fixture.entry("/tmp/flood\(number)", group: "G")) }
        // Until the minimum age the first lines are kept, and refusals are removed instead; after
        // it, the oldest file is removed.
        #expect(try (remembered(fixture) == 20) == (days < 30))
        let verdict = try fixture.log.verify()
        #expect(verdict.isIntact, "\(verdict)")
        #expect(verdict.removals.contains { $0.reason == (days < 30 ? .refusals : .age) })
        #expect(!verdict.removals.contains { $0.reason == .size })
    }

    @Test("A file that was changed is not compacted, so that the change can still be detected")
    func changedFile() throws {
        let fixture = try Fixture(limits: Fixture.limits(fileLength: 3000, totalLength: 1 << 20))
        for number in 0..<40 { try fixture.log.append(Fixture.entry("/tmp/\(number)", group: "G")) }
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(fixture.directory.path)/state")
        let oldest =
            "\(fixture.path).\(names.compactMap { $0.hasPrefix("audit.log.") ? Int($0.dropFirst(10)) : nil }.max() ?? 0)"
        let original = try Data(contentsOf: URL(filePath: oldest))
        func compacted() throws -> AuditCompaction.Result? {
            try AuditCompaction.of(oldest, number: 1, in: fixture.service.keychain.store, now: 0)
        }
        let whole = try #require(try compacted())
        #expect(whole.removal.first == 1 && whole.lines.count < original.count / 2)
        for position in stride(from: 0, to: original.count, by: 101) {
            var changed = original
            changed[position] ^= 1
            try changed.write(to: URL(filePath: oldest))
            #expect(try compacted() == nil, "byte \(position)")
        }
        try original.dropLast(5).write(to: URL(filePath: oldest))
        #expect(try compacted() == nil)
    }

    @Test("Files with any content are read, verified, compacted and continued without a trap")
    func hostileFiles() throws {
        let largest = "\(UInt64.max)"
        let pieces = [
            "", "{", "}", "\"", "\\", ",", ":", "{\"sequence\":", "{\"sequence\":1", "{\"sequence\":\(largest)",
            ",\"time\":\"2026-11-22T12:00:00.000Z\"",
            ",\"time\":\"\(largest)-99-99T99:99:99.999Z\"", ",\"program\":\"latchkeyd\"", ",\"operation\":\"gap\"",
            ",\"operation\":\"rotate\"",
            ",\"reason\":\"refusals\"", ",\"from\":1", ",\"from\":\(largest)", ",\"to\":\(largest)",
            ",\"lines\":\(largest)",
            ",\"refused\":\(largest)", ",\"repeated\":\(largest)", ",\"status\":-25293", ",\"status\":-99999999999",
            ",\"passcode\":\"wrong\"",
            ",\"user\":-1", ",\"code\":\"\(String(repeating: "f", count: 64))\"",
            ",\"mac\":\"\(String(repeating: "0", count: 64))\"}",
            "\n",
        ]
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20 {
            let fixture = try Fixture(limits: Fixture.limits(fileLength: 1500, totalLength: 6000))
            for number in 0..<12 { try fixture.log.append(Fixture.entry("/tmp/\(number)", group: "G")) }
            fixture.log.close()
            for age in 0...2
            where FileManager.default.fileExists(atPath: age == 0 ? fixture.path : "\(fixture.path).\(age)") {
                let text = (0..<60).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
                try Data(text.utf8).write(to: URL(filePath: age == 0 ? fixture.path : "\(fixture.path).\(age)"))
            }
            _ = try fixture.lines()
            #expect(try fixture.log.verify().isIntact == false)
            try fixture.restart(orderly: false)
            _ = try fixture.log.passcodeGuesses()
            for number in 0..<40 { try fixture.log.append(Fixture.entry("/tmp/more\(number)", group: "G")) }
            _ = try fixture.log.verify()
        }
    }

    @Test("AUD-3: a gap that was changed, moved, or that replaces other lines is detected")
    func changedGaps() throws {
        let fixture = try Fixture(limits: Fixture.limits(fileLength: 5000, totalLength: 30_000))
        try remember(fixture)
        for number in 0..<150 { try fixture.log.append(Fixture.entry("/tmp/flood\(number)", group: "G")) }
        #expect(try fixture.log.verify().isIntact)
        let age = try #require(
            (1...9).last { age in
                guard let text = try? String(contentsOfFile: "\(fixture.path).\(age)", encoding: .utf8) else {
                    return false
                }
                return text.contains("\"operation\":\"gap\"")
            })
        let path = "\(fixture.path).\(age)"
        let original = try Data(contentsOf: URL(filePath: path))
        let text = String(decoding: original, as: UTF8.self)
        let gap = try #require(text.split(separator: "\n").first { $0.contains("\"operation\":\"gap\"") })
        let forgeries = [
            gap.replacing("\"refused\":", with: "\"refused\":1"), gap.replacing("\"to\":", with: "\"to\":1"), "",
            "\(gap)\n\(gap)",
            gap.replacing("\"reason\":\"refusals\"", with: "\"reason\":\"age\""),
        ]
        for forgery in forgeries {
            try Data(text.replacing(gap, with: forgery).utf8).write(to: URL(filePath: path))
            #expect(try fixture.log.verify().isIntact == false, "\(forgery)")
        }
        try original.write(to: URL(filePath: path))
        #expect(try fixture.log.verify().isIntact)
    }

    @Test(
        "A log of format version 1, without passcodes and repetitions in its lines, is read, verified and continued"
    )
    func earlierVersion() throws {
        let fixture = try Fixture()
        // The lines of decisions without either are the same in both versions.
        try fixture.append(5)
        try fixture.restart(orderly: true)
        try fixture.log.append(Fixture.entry())
        try fixture.log.append(Fixture.entry())
        fixture.log.close()
        #expect(
            try fixture.log.verify()
                == AuditVerification(isIntact: true, lines: 7, detail: "every line is intact, up to line 7"))
    }

    @Test(
        "The limits follow from the administrator's size and age: a file gets a fifth, and a program a quarter of a file",
        arguments: [(40 << 20, 8 << 20), (1 << 20, 209_715), (0, 209_715), (-1, 209_715)])
    func limits(_ size: Int, _ fileLength: Int) {
        let limits = AuditLog.Limits(totalLength: size, minimumAge: 86400)
        #expect(limits.fileLength == fileLength && limits.programLength == fileLength / 4 && limits.minimumAge == 86400)
        #expect(AuditLog.Limits() == AuditLog.Limits(totalLength: 40 << 20, minimumAge: 30 * 86400))
    }
}

/// The rotation of files, and its state after a kill or an error.
@Suite("Files of the audit log")
struct AuditFilesTests {
    private let directory: TemporaryDirectory
    private let files: AuditFiles

    init() throws {
        directory = try TemporaryDirectory()
        files = AuditFiles(directory: try PrivateDirectory(existing: directory.path), maxCount: 64)
    }

    private func make(_ contents: [Int: String]) throws {
        for (age, content) in contents {
            try content.write(toFile: files.path(ofAge: age), atomically: false, encoding: .utf8)
        }
    }

    /// The contents of the files, by age.
    private func contents() throws -> [Int: String] {
        var contents: [Int: String] = [:]
        for age in 0...9 { contents[age] = try? String(contentsOfFile: files.path(ofAge: age), encoding: .utf8) }
        return contents
    }

    @Test(
        "Rotation renames the current file, and removes the files that are not kept",
        arguments: [
            (3, [1: "0", 2: "1", 3: "2"]), (4, [1: "0", 2: "1", 3: "2"]), (2, [1: "0", 2: "1"]), (1, [1: "0"]),
            (0, [1: "0"]),
        ] as [(Int, [Int: String])])
    func rotate(_ kept: Int, _ expected: [Int: String]) throws {
        try make([0: "0", 1: "1", 2: "2"])
        try files.rotate(keeping: kept)
        #expect(try contents() == expected)
        // There is no new file yet, so there is nothing to rename.
        try files.rotate(keeping: kept)
        #expect(try contents() == expected)
    }

    @Test("Files that were renamed before a kill are not renamed again", arguments: [1, 2, 3])
    func resumed(_ free: Int) throws {
        // Of the files 0, 1 and 2, those above the unused age have been renamed.
        var before: [Int: String] = [:]
        for number in 0...2 { before[number < free ? number : number + 1] = "\(number)" }
        try make(before)
        #expect(try files.count() == (free == 3 ? 2 : 3))
        try files.rotate(keeping: 3)
        #expect(try contents() == [1: "0", 2: "1", 3: "2"])
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@testable import LatchkeyService
import Testing

/// Documentation/Formats/audit-log.md: the changes of the log that are detected.
@Suite("Audit log")
struct AuditLogTests {
    /// A keychain with an open log, as in a daemon.
    final class Fixture {
        let directory: TemporaryDirectory
        let clock = TestClock()
        private(set) var service: EmbeddedService
        private(set) var log: AuditLog
        let limits: AuditLog.Limits

        init(limits: AuditLog.Limits = Fixture.usualLimits, directory: TemporaryDirectory? = nil) throws {
            self.directory = try directory ?? TemporaryDirectory()
            self.limits = limits
            service = try EmbeddedService(home: KeychainHome(root: self.directory.path), clocks: clock.clocks)
            log = try service.openAuditLog(limits: limits)
        }

        var path: String { "\(directory.path)/state/audit.log" }

        func append(_ count: Int, program: String = "/usr/bin/x") throws {
            for number in 0..<count {
                let caller = CallerIdentity(
                    executable: program, process: CallerIdentity.ProcessIdentity(user: 1, process: 2))
                try log.append(
                    AuditEntry(
                        caller: caller, operation: "copy", itemClass: .genericPassword, group: .shared, count: number,
                        status: .success))
            }
        }

        func lines(after: UInt64 = 0, since: Double? = nil) throws -> [String] {
            try log.reading(after: after, since: since).allLines()
        }

        /// Ends the process, with or without closing the log, and starts the next one.
        func restart(orderly: Bool) throws {
            if orderly { log.close() }
            service.close()
            service = try EmbeddedService(home: KeychainHome(root: directory.path), clocks: clock.clocks)
            log = try service.openAuditLog(limits: limits)
        }
    }

    @Test("AUD-1: a line is a JSON object with caller, operation and result; names from outside cannot forge a line")
    func lines() throws {
        let fixture = try Fixture()
        try fixture.append(1, program: "/tmp/a\"}\n{\"sequence\":9,\u{1B}[2J\u{2028}")
        let lines = try fixture.lines()
        #expect(lines.count == 1)
        let line = try #require(lines.first)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object["sequence"] as? Int == 1)
        #expect(object["program"] as? String == "/tmp/a\"}\n{\"sequence\":9,\u{1B}[2J\u{2028}")
        #expect(object["operation"] as? String == "copy" && object["class"] as? String == "genp")
        #expect(object["group"] as? String == "latchkey.shared" && object["groupGrade"] as? String == "claimed")
        #expect(object["user"] as? Int == 1 && object["process"] as? Int == 2 && object["status"] as? Int == 0)
        #expect(object["time"] as? String == "2026-11-22T12:00:00.000Z")
        #expect((object["mac"] as? String)?.count == 64)
        #expect(!line.contains("\u{1B}"))
    }

    @Test("AUD-2: an unchanged log is intact, after an orderly restart and after a kill")
    func intact() throws {
        let fixture = try Fixture()
        #expect(try fixture.log.verify().isIntact)
        try fixture.append(5)
        #expect(
            try fixture.log.verify()
                == AuditVerification(isIntact: true, lines: 5, detail: "every line is intact, up to line 5"))
        try fixture.restart(orderly: true)
        try fixture.append(3)
        try fixture.restart(orderly: false)
        try fixture.append(2)
        let verdict = try fixture.log.verify()
        #expect(verdict.isIntact && verdict.lines == 10)
        #expect(try fixture.lines().count == 10)
    }

    @Test("The line of a lookup follows without another call, and the thread that writes it waits instead of polling")
    func lookup() throws {
        let fixture = try Fixture()
        try fixture.log.appendSoon(Fixture.entry(status: .success))
        #expect(try eventually { try Data(contentsOf: URL(filePath: fixture.path)).last == UInt8(ascii: "\n") })
        #expect(eventually { fixture.log.waitsOfLastWriter != nil })
        // One wait for the lookups that follow closely, one for the next event, and the file's.
        #expect(try #require(fixture.log.waitsOfLastWriter) < 50)
        #expect(try fixture.lines().count == 1)
        // The thread has ended; the next lookup starts another one.
        try fixture.log.appendSoon(Fixture.entry(status: .success))
        #expect(try eventually { try fixture.log.reading(after: 0, since: nil).allLines().count == 2 })
    }

    @Test("The lines of many lookups are in the file once, in order, and after the log is closed no more follow")
    func lookups() throws {
        let fixture = try Fixture()
        for number in 0..<2_500 {
            try fixture.log.appendSoon(Fixture.entry("/usr/bin/\(number)", status: .success))
        }
        fixture.log.close()
        let written = try Data(contentsOf: URL(filePath: fixture.path))
        try fixture.log.appendSoon(Fixture.entry(status: .success))
        try fixture.restart(orderly: false)
        #expect(try Data(contentsOf: URL(filePath: fixture.path)) == written)
        #expect(try fixture.objects().map(\.program) == (0..<2_500).map { "/usr/bin/\($0)" })
        #expect(try fixture.log.verify().isIntact)
    }

    @Test("AUD-3: a change of any byte is detected, in the line that has the byte", arguments: [true, false])
    func changedBytes(_ isRunning: Bool) throws {
        let fixture = try Fixture()
        try fixture.append(3)
        let original = try Data(contentsOf: URL(filePath: fixture.path))
        for position in original.indices {
            var changed = original
            changed[position] ^= 1
            try overwrite(fixture.path, changed)
            if !isRunning, position % 29 == 0 { try fixture.restart(orderly: true) }
            let verdict = try fixture.log.verify()
            let line = original[..<position].count { $0 == UInt8(ascii: "\n") } + 1
            #expect(!verdict.isIntact && verdict.firstWrong == UInt64(line), "byte \(position): \(verdict)")
        }
        try overwrite(fixture.path, original)
        #expect(try fixture.log.verify().isIntact)
    }

    @Test(
        "AUD-3: lines that are removed, moved, duplicated or cut off at the end are detected",
        arguments: [
            ([0, 1, 3], 3), ([0, 2, 1, 3], 2), ([0, 1, 1, 2, 3], 3), ([1, 2, 3], 1), ([0, 1, 2], 4), ([], 1),
        ] as [([Int], UInt64)])
    func movedLines(_ order: [Int], _ firstWrong: UInt64) throws {
        let fixture = try Fixture()
        try fixture.append(4)
        try fixture.log.flush()
        let lines = try Data(contentsOf: URL(filePath: fixture.path)).split(separator: UInt8(ascii: "\n"))
        try overwrite(fixture.path, Data(order.flatMap { Array(lines[$0]) + [UInt8(ascii: "\n")] }))
        var verdict = try fixture.log.verify()
        #expect(!verdict.isIntact && verdict.firstWrong == firstWrong, "\(verdict)")
        try fixture.restart(orderly: false)
        verdict = try fixture.log.verify()
        #expect(!verdict.isIntact && verdict.firstWrong == firstWrong, "\(verdict)")
    }

    @Test("AUD-3: a log that was replaced by a log of another keychain is detected")
    func foreignLog() throws {
        let (one, other) = (try Fixture(), try Fixture())
        try one.append(3)
        try other.append(3)
        try overwrite(one.path, try Data(contentsOf: URL(filePath: other.path)))
        #expect(try one.log.verify().firstWrong == 1)
    }

    @Test("AUD-4: positions in the database that were changed or rolled back are detected")
    func changedPositions() throws {
        let fixture = try Fixture()
        try fixture.append(2)
        try fixture.log.flush()
        fixture.log.close()
        fixture.service.close()
        try fixture.directory.runSQL("UPDATE audit SET sequence = 1 WHERE id = 0")
        let service = try EmbeddedService(
            home: KeychainHome(root: fixture.directory.path), clocks: fixture.clock.clocks)
        defer { service.close() }
        #expect(throws: KeychainError.self) { try service.openAuditLog() }
    }

    @Test(
        "AUD-5: a file that has reached its maximum length is renamed, the chain continues, and a line reports the removed oldest file"
    )
    func rotation() throws {
        let fixture = try Fixture(limits: Fixture.limits(fileLength: 1000, totalLength: 4500, minimumAge: 0))
        try fixture.append(30)
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(fixture.directory.path)/state").filter {
            $0.hasPrefix("audit")
        }
        #expect(names.sorted() == ["audit.log", "audit.log.1", "audit.log.2"])
        let verdict = try fixture.log.verify()
        #expect(verdict.isIntact, "\(verdict)")
        #expect(verdict.lines < 30)
        let kept = try fixture.lines()
        #expect(kept.count == verdict.lines)
        #expect(kept.last?.contains("\"count\":29,") == true)
        let first = try #require(try fixture.objects().first)
        let newest = try #require(verdict.removals.last)
        #expect(newest.reason == .age && newest.last == first.sequence - 1 && newest.removed == 1_795_348_800)

        try fixture.restart(orderly: false)
        #expect(try fixture.log.verify().isIntact)
        // A missing file is detected, too.
        try FileManager.default.removeItem(atPath: "\(fixture.path).1")
        #expect(try fixture.log.verify().isIntact == false)
    }

    @Test("AUD-5: a rotation that a kill has interrupted is completed at the next start")
    func interruptedRotation() throws {
        let fixture = try Fixture(limits: Fixture.limits(fileLength: 1000))
        try fixture.append(3)
        let before = try Data(contentsOf: URL(filePath: fixture.path))
        try fixture.append(1)
        while try Data(contentsOf: URL(filePath: fixture.path)).count > before.count { try fixture.append(1) }
        // The database has the new file; the old file still has its name.
        let old = try Data(contentsOf: URL(filePath: "\(fixture.path).1"))
        fixture.service.close()
        try FileManager.default.removeItem(atPath: "\(fixture.path).1")
        try overwrite(fixture.path, old)
        try fixture.restart(orderly: false)
        #expect(FileManager.default.fileExists(atPath: "\(fixture.path).1"))
    }

    @Test("AUD-6: a partial line after a power failure is truncated, and the log continues")
    func tornLine() throws {
        let fixture = try Fixture()
        try fixture.append(2)
        fixture.service.close()
        let whole = try Data(contentsOf: URL(filePath: fixture.path))
        try overwrite(fixture.path, whole + Data("{\"sequence\":3,\"ti".utf8))
        try fixture.restart(orderly: false)
        try fixture.append(1)
        let verdict = try fixture.log.verify()
        #expect(verdict.isIntact && verdict.lines == 3)
    }

    @Test(
        "AUD-6: an unterminated line is not kept in memory, is detected, and is truncated if it is the last",
        arguments: [false, true])
    func endlessLine(_ isLast: Bool) throws {
        let fixture = try Fixture()
        try fixture.append(2)
        try fixture.log.flush()
        let whole = try Data(contentsOf: URL(filePath: fixture.path))
        let endless = Data(repeating: UInt8(ascii: "x"), count: 1 << 20)
        let after = isLast ? Data() : Data("\n".utf8) + whole
        try overwrite(fixture.path, whole + endless + after)
        #expect(try fixture.log.verify().isIntact == false)
        let read = try fixture.lines()
        #expect(read.allSatisfy { $0.utf8.count < 1000 } && read.count >= 2)
        try fixture.restart(orderly: false)
        try fixture.append(1)
        #expect(try fixture.log.verify().isIntact == isLast)
        #expect(try fixture.lines().last?.contains("\"sequence\":3,") == true)
    }

    @Test("Lines are returned after a number, and since a time")
    func selection() throws {
        let fixture = try Fixture()
        try fixture.append(2)
        fixture.clock.advance(by: 3600)
        try fixture.append(2)
        #expect(try fixture.lines(after: 3).count == 1)
        // 2026-11-22 12:30:00 UTC.
        #expect(try fixture.lines(since: 1_795_350_600).count == 2)
        #expect(try fixture.lines(since: 0).count == 4)
    }

    @Test("After a line could not be written, nothing is decided until a line can be written")
    func unwritable() throws {
        let fixture = try Fixture(
            limits: AuditLog.Limits(fileLength: 1, totalLength: 1 << 20, maxFiles: 1, programLength: .max))
        try fixture.append(1)
        // The rename fails, because a directory has the new name and cannot be replaced.
        try FileManager.default.createDirectory(atPath: "\(fixture.path).1/x", withIntermediateDirectories: true)
        #expect(throws: KeychainError.self) { try fixture.append(1) }
        #expect(throws: KeychainError.self) { try fixture.log.requireWritable() }
        try FileManager.default.removeItem(atPath: "\(fixture.path).1")
        try fixture.log.requireWritable()
        try fixture.append(1)
    }

    /// Writes into a file that the log has open.
    private func overwrite(_ path: String, _ data: Data) throws {
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: data)
        try handle.close()
    }
}

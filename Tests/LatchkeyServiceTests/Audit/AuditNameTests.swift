// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@testable import LatchkeyService
import Testing

/// Documentation/Formats/audit-log.md: how lines contain names from outside.
@Suite("Names in the audit log")
struct AuditNameTests {
    @Test(
        "AUD-8: the length of a line is bounded for any names",
        arguments: [
            String(repeating: "x", count: 4096), String(repeating: "\u{1}", count: 4096),
            String(repeating: "\"", count: 4096),
            String(repeating: "\\", count: 4096), String(repeating: "\u{E0001}", count: 1024),
            String(repeating: "\u{1F600}", count: 1024),
            String(repeating: "é", count: 2048), String(repeating: "a\u{301}", count: 1000),
            "/" + String(repeating: "\u{202E}", count: 300),
        ])
    func boundedLines(_ name: String) throws {
        let fixture = try AuditLogTests.Fixture()
        let operation = "repair-rehearsal"
        let entry = AuditEntry(
            caller: CallerIdentity(
                executable: name, attestedGroups: [name],
                process: CallerIdentity.ProcessIdentity(user: .max, process: .max)),
            operation: operation, itemClass: .internetPassword, group: AccessGroup(name, grade: .attested), count: .max,
            status: OSStatusCode(rawValue: .min), passcode: .wrong)
        for _ in 0..<3 { try fixture.log.append(entry) }
        fixture.log.close()
        let lines = try fixture.lines()
        #expect(lines.count == 2 && lines.last?.contains("\"repeated\":2") == true)
        for line in lines {
            #expect(line.utf8.count <= AuditLine.maxBodyLength + 74)
            let object = try JSONDecoder().decode(AuditObject.self, from: Data(line.utf8))
            #expect(object.program.unicodeScalars.last == "…")
            #expect(Array(name.unicodeScalars).starts(with: object.program.unicodeScalars.dropLast()))
            #expect(object.programBytes == name.utf8.count && object.programDigest?.count == 32)
        }
        #expect(AuditName(name).escaped.utf8.count <= AuditName.maxLength + 3)
    }

    @Test("AUD-8: names that differ only in the part that is cut off have different digests")
    func digests() {
        let start = String(repeating: "x", count: 300)
        let (one, other) = (AuditName(start + "1"), AuditName(start + "2"))
        #expect(one.escaped == other.escaped && one.original?.digest != other.original?.digest && one != other)
        // SHA-256 of the letter a repeated 1,000 times, from sha256sum.
        #expect(AuditName(String(repeating: "a", count: 1000)).original?.digest == "41edece42d63e8d9bf515a9ba6932e1c")
    }

    @Test(
        "AUD-1: a short name is stored whole, and is read back from the line unchanged",
        arguments: [
            "", "/usr/bin/x", "\"\\\n\u{0}\u{7F}\u{9B}\u{2028}", "/tmp/…", "a\u{200B}b\u{FEFF}\u{E0041}", "日本語",
            "e\u{301}",
        ])
    func whole(_ name: String) {
        let bounded = AuditName(name)
        #expect(bounded.original == nil)
        #expect(Array(bounded.text.utf8) == Array(name.utf8))
        let isPlain = bounded.escaped.unicodeScalars.allSatisfy {
            ![.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
        }
        #expect(isPlain)
        #expect(
            AuditLine(Array("{\"sequence\":1,\"program\":\"\(bounded.escaped)\",\"x\":1".utf8)).string("program")
                == bounded.escaped)
    }

    @Test("A name cannot contain a member of a line, and text that is not a line of the log has no members")
    func members() {
        let forged = AuditName("\",\"status\":-1,\"operation\":\"gap\",\"to\":9,\"")
        let line = AuditLine(
            Array("{\"sequence\":7,\"program\":\"\(forged.escaped)\",\"operation\":\"copy\",\"status\":0".utf8))
        #expect(line.sequence == 7 && line.string("operation") == "copy" && line.number("status") == Int32(0))
        #expect(line.number("to") == UInt64?.none && line.gap == nil && line.removal == nil)
        for text in [
            "", "{", "{\"sequence\":", "{\"sequence\":99999999999999999999999", ",\"time\":", ",\"time\":\"",
            "\u{0},\"to\":-",
        ] {
            let odd = AuditLine(Array(text.utf8))
            #expect(
                odd.sequence == nil && odd.time == nil && odd.body == nil && odd.code == nil
                    && odd.number("to") == UInt64?.none)
        }
    }

    @Test(
        "Times are written to the millisecond and read back; other text is not read as a time",
        arguments: [0, 0.001, 1_795_348_800, 253_402_300_799])
    func times(_ time: Double) {
        #expect(AuditTime.seconds(AuditTime.text(since1970: time)).map { abs($0 - time) < 0.0011 } == true)
        for odd in [Double.nan, .infinity, -.infinity, -1, 1e300] {
            #expect(AuditTime.text(since1970: odd).utf8.count == 24)
        }
        for text in [
            "", "2026", "2026-11-22T12:00:00Z", "99999-01-01T00:00:00.000Z", "2026-1111111111-22T12:00:00.000Z",
        ] {
            #expect(AuditTime.seconds(text) == nil)
        }
    }
}

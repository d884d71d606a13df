// SPDX-License-Identifier: Apache-2.0

import KeychainModel
@testable import LatchkeyService
import Testing

/// Documentation/Formats/audit-log.md: the bytes of each kind of line.
@Suite("Lines of the audit log")
struct AuditContentTests {
    private static let entry = AuditEntry(
        caller: CallerIdentity(
            executable: "/usr/bin/x", process: CallerIdentity.ProcessIdentity(user: 1000, process: 42)),
        operation: "copy", itemClass: .genericPassword, group: .shared, count: 3, status: .itemNotFound,
        passcode: .wrong)
    private static let start = "{\"sequence\":7,\"time\":\"2001-01-01T00:00:01.500Z\""
    private static let daemon = ",\"program\":\"latchkeyd\",\"grade\":\"claimed\""
    private static let removal = AuditRemoval(.size, first: 1, last: 9, lines: 8, since: 0, until: 1.25)
    private static let removed =
        ",\"count\":0,\"status\":0,\"reason\":\"size\",\"from\":1,\"to\":9,\"lines\":8"
        + ",\"since\":\"1970-01-01T00:00:00.000Z\",\"until\":\"1970-01-01T00:00:01.250Z\""

    @Test(
        "A line has exactly the members of its kind, in the order of the format",
        arguments: [
            (
                .decision(entry),
                ",\"user\":1000,\"process\":42,\"program\":\"/usr/bin/x\",\"grade\":\"claimed\",\"operation\":\"copy\""
                    + ",\"class\":\"genp\",\"group\":\"latchkey.shared\",\"groupGrade\":\"claimed\",\"count\":3"
                    + ",\"status\":-25300,\"passcode\":\"wrong\""
            ),
            (
                .repeats(AuditRepetition(entry: entry, count: 12, first: 0, last: 1, isThrottled: true)),
                ",\"user\":1000,\"process\":42,\"program\":\"/usr/bin/x\",\"grade\":\"claimed\",\"operation\":\"copy\""
                    + ",\"class\":\"genp\",\"count\":3,\"status\":-25300,\"passcode\":\"wrong\",\"repeated\":12"
                    + ",\"first\":\"2001-01-01T00:00:00.000Z\",\"last\":\"2001-01-01T00:00:01.000Z\",\"throttled\":true"
            ),
            (.removal(removal), "\(daemon),\"operation\":\"rotate\"\(removed)"),
            (
                .gap(AuditGap(removal: removal, refused: 5, code: [0, 9, 10, 171, 255])),
                "\(daemon),\"operation\":\"gap\"\(removed),\"refused\":5,\"code\":\"00090aabff\""
            ),
        ] as [(AuditContent, String)])
    func body(_ content: AuditContent, _ members: String) {
        let body = content.body(sequence: 7, time: 1.5)
        #expect(String(decoding: body, as: UTF8.self) == Self.start + members)
    }

    @Test("A truncated name is followed by its length and digest")
    func truncated() {
        let entry = AuditEntry(
            caller: CallerIdentity(executable: String(repeating: "x", count: 300)), operation: "copy")
        let name = String(repeating: "x", count: 256)
        // The first half of the SHA-256 of 300 letters x.
        let digest = "0d4e2ca9e9cbced7a7a5380eb29e1a37"
        let expected =
            ",\"program\":\"\(name)…\",\"programBytes\":300,\"programDigest\":\"\(digest)\",\"grade\":\"claimed\""
            + ",\"operation\":\"copy\",\"count\":0,\"status\":0"
        let body = AuditContent.decision(entry).body(sequence: 7, time: 1.5)
        #expect(String(decoding: body, as: UTF8.self) == Self.start + expected)
    }

    @Test(
        "Numbers are written as Swift writes them",
        arguments: [0, 7, 10, 99, 100, -1, -25300, .min, .max] as [Int64])
    func numbers(_ number: Int64) {
        var text = AuditText()
        text.append(number)
        #expect(String(decoding: text.bytes, as: UTF8.self) == "\(number)")
        text = AuditText()
        text.append(UInt64(number.magnitude), digits: 3)
        #expect(String(decoding: text.bytes, as: UTF8.self).utf8.count == max(3, "\(number.magnitude)".utf8.count))
    }
}

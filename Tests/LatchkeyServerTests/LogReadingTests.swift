// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyProtocol
@testable import LatchkeyServer
import LatchkeyService
import LinuxSystem
import Testing

/// Reading the audit log through a connection uses a limited share of the user's resources.
@Suite("Reading the audit log")
struct LogReadingTests {
    /// Fills the audit log of the keychain with this many lines.
    private func fill(_ fixture: ServerFixture, lines count: Int) throws {
        let log = try #require(try fixture.server.provider.keychain(of: geteuid()).audit)
        for _ in 0..<count {
            try log.append(AuditEntry(caller: CallerIdentity(executable: "/usr/bin/x"), operation: "copy"))
        }
    }

    private let all = ReadLog(after: 0, since: nil)

    @Test("The log is read on the threads for slow operations, within the share of its user")
    func slowWork() throws {
        let fixture = try ServerFixture(limits: ServerLimits(slowWorkPerUser: 1))
        try fill(fixture, lines: 3)
        let pool = fixture.server.shared.slowWork
        let gate = DispatchSemaphore(value: 0)
        BackgroundThread.run {
            try? pool.run(.computation, for: geteuid(), isAbandoned: { false }) { () throws(KeychainError) in
                gate.awaitSignal()
            }
        }
        #expect(eventually { pool.load == (1, 0) })
        let client = try fixture.client()
        try client.send(all)
        #expect(eventually { pool.load == (1, 1) })
        gate.signal()
        guard case .content(let part as LogPart) = try client.receive(), !part.moreFollows else {
            Issue.record("the log was not read")
            return
        }
        #expect(part.lines.lines.count == 3 && part.lines.last == 3)
    }

    @Test(
        "A user has at most two concurrent log reads; they hold no thread while the client does not read, and end with it"
    )
    func manyReadings() throws {
        let fixture = try ServerFixture(limits: ServerLimits(timeout: 0))
        // More than a socket buffer holds.
        try fill(fixture, lines: 4000)
        let (readings, pool) = (fixture.server.shared.logReadings, fixture.server.shared.slowWork)
        var sinks = try (0..<2).map { _ in try fixture.client() }
        for sink in sinks { try sink.send(all) }
        #expect(eventually { readings.permitCount(of: geteuid()) == 2 && pool.load == (0, 0) })
        #expect(try fixture.client().ask(all).problem?.status == .notAvailable)
        sinks.removeLast()
        #expect(eventually { readings.permitCount(of: geteuid()) <= 1 })
        let client = try fixture.client()
        try client.send(all)
        var (lines, moreFollows): ([String], Bool) = ([], true)
        while moreFollows {
            guard case .content(let part as LogPart) = try client.receive() else {
                Issue.record("the log was not read to its end")
                return
            }
            lines += part.lines.lines
            moreFollows = part.moreFollows
        }
        #expect(lines.count == 4000 && Set(lines).count == 4000)
        #expect(
            lines.first?.hasPrefix(#"{"sequence":1,"#) == true && lines.last?.hasPrefix(#"{"sequence":4000,"#) == true)
        withExtendedLifetime(sinks) {}
    }
}

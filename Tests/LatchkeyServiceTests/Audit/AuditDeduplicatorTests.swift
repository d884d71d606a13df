// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@testable import LatchkeyService
import LinuxSystem
import Testing

/// Documentation/Formats/audit-log.md: the decisions with a line of their own, and the counted decisions.
@Suite("Repetitions in the audit log")
struct AuditDeduplicatorTests {
    private typealias Fixture = AuditLogTests.Fixture

    @Test(
        "AUD-9: the first refusal is written immediately; its repetitions are one line before the program's next decision"
    )
    func counted() throws {
        let fixture = try Fixture()
        for _ in 0..<5 {
            try fixture.log.append(Fixture.entry(group: "G"))
            fixture.clock.advance(by: 1)
        }
        #expect(try fixture.lines().count == 1)
        try fixture.log.append(Fixture.entry(operation: "add", group: "G", status: .success))
        let objects = try fixture.objects()
        #expect(objects.map(\.operation) == ["copy", "copy", "add"])
        #expect(objects.map(\.repeated) == [nil, 4, nil])
        #expect(objects.map(\.sequence) == [1, 2, 3])
        #expect(objects[1].first == "2026-11-22T12:00:01.000Z" && objects[1].last == "2026-11-22T12:00:04.000Z")
        #expect(objects[1].status == -25300 && objects[1].group == "G")
        #expect(try fixture.log.verify().isIntact)
    }

    @Test("Every success has its own line, even if it is the same as the one before")
    func successes() throws {
        let fixture = try Fixture()
        for _ in 0..<5 { try fixture.log.append(Fixture.entry(group: "G", status: .success)) }
        #expect(try fixture.lines().count == 5)
    }

    @Test(
        "Refusals that differ in any property are counted separately",
        arguments: [
            AuditLogTests.Fixture.entry("/usr/bin/y", group: "G"),
            AuditLogTests.Fixture.entry(operation: "delete", group: "G"),
            AuditLogTests.Fixture.entry(group: "H"), AuditLogTests.Fixture.entry(),
            AuditLogTests.Fixture.entry(group: "G", status: .missingEntitlement),
            AuditLogTests.Fixture.entry(group: "G", passcode: .wrong),
            AuditLogTests.Fixture.entry("/usr/bin/x" + String(repeating: "x", count: 5000), group: "G"),
        ])
    func different(_ other: AuditEntry) throws {
        let fixture = try Fixture()
        try fixture.log.append(Fixture.entry(group: "G"))
        try fixture.log.append(other)
        #expect(try fixture.lines().count == 2)
        #expect(try fixture.objects().allSatisfy { $0.repeated == nil })
    }

    @Test("Refusals of different processes of one program count as repetitions")
    func processes() throws {
        let fixture = try Fixture()
        for process in 10..<20 { try fixture.log.append(Fixture.entry(process: Int32(process))) }
        #expect(try fixture.lines().count == 1)
    }

    @Test(
        "AUD-9: repetitions are written when their interval has passed, and the first refusal after a pause immediately"
    )
    func interval() throws {
        let fixture = try Fixture()
        for _ in 0..<3 { try fixture.log.append(Fixture.entry()) }
        fixture.clock.advance(by: Fixture.repeatInterval - 1)
        try fixture.log.writeDueRepeats()
        #expect(try fixture.lines().count == 1)
        fixture.clock.advance(by: 1)
        try fixture.log.writeDueRepeats()
        #expect(try fixture.objects().map(\.repeated) == [nil, 2])
        // The flood continues: one line for each interval.
        for _ in 0..<10 { try fixture.log.append(Fixture.entry()) }
        fixture.clock.advance(by: Fixture.repeatInterval)
        try fixture.log.writeDueRepeats()
        #expect(try fixture.objects().map(\.repeated) == [nil, 2, 10])
        // The interval had no repetition, so the next refusal is a first one again.
        fixture.clock.advance(by: Fixture.repeatInterval)
        try fixture.log.writeDueRepeats()
        try fixture.log.append(Fixture.entry())
        #expect(try fixture.objects().map(\.repeated) == [nil, 2, 10, nil])
        fixture.clock.advance(by: 2 * Fixture.repeatInterval)
        try fixture.log.append(Fixture.entry())
        #expect(try fixture.objects().map(\.repeated) == [nil, 2, 10, nil, nil])
    }

    @Test("A clock that is set back ends the interval")
    func clockTurnedBack() throws {
        let fixture = try Fixture()
        for _ in 0..<3 { try fixture.log.append(Fixture.entry()) }
        fixture.clock.advance(by: -86400)
        try fixture.log.writeDueRepeats()
        #expect(try fixture.objects().map(\.repeated) == [nil, 2])
    }

    @Test(
        "A thread that is held up after it has read the clock ends no interval: its time is not one before another line"
    )
    func heldUp() throws {
        let fixture = try Fixture()
        fixture.log.close()
        let clock = HoldingClock(fixture.clock)
        let log = try AuditLog(
            store: fixture.service.keychain.store,
            directory: PrivateDirectory(existing: "\(fixture.directory.path)/state"),
            clock: { clock.now() }, limits: Fixture.usualLimits)
        defer { log.close() }
        for _ in 0..<2 { try log.append(Fixture.entry()) }
        let ended = DispatchSemaphore(value: 0)
        BackgroundThread.run {
            clock.holdThisThread()
            #expect(throws: Never.self) { try log.writeDueRepeats() }
            ended.signal()
        }
        clock.isHeld.awaitSignal()
        fixture.clock.advance(by: Fixture.repeatInterval)
        // The repetition is due, and a new interval begins with one more.
        for _ in 0..<2 { try log.append(Fixture.entry()) }
        clock.release.signal()
        ended.awaitSignal()
        #expect(try fixture.readObjects(of: log).map(\.repeated) == [nil, 1, nil])
    }

    @Test("AUD-9: repetitions are written when they reach the maximum count, and when the log is closed")
    func many() throws {
        let fixture = try Fixture(limits: Fixture.limits(maxRepeats: 10))
        for _ in 0..<25 { try fixture.log.append(Fixture.entry()) }
        #expect(try fixture.objects().map(\.repeated) == [nil, 10, 10])
        try fixture.restart(orderly: true)
        #expect(try fixture.objects().map(\.repeated) == [nil, 10, 10, 4])
        #expect(try fixture.log.verify().isIntact)
    }

    @Test("A killed process loses repetitions that were only counted, and leaves the log intact")
    func killed() throws {
        let fixture = try Fixture()
        for _ in 0..<25 { try fixture.log.append(Fixture.entry()) }
        try fixture.restart(orderly: false)
        #expect(try fixture.objects().map(\.repeated) == [nil])
        #expect(try fixture.log.verify().isIntact)
    }

    @Test("AUD-10: the decisions of a program that has used up its part of a file are counted, and none is lost")
    func throttled() throws {
        let fixture = try Fixture(limits: Fixture.limits(programLength: 2000))
        for number in 0..<1000 { try fixture.log.append(Fixture.entry(group: "G\(number)", status: .success)) }
        let before = try fixture.lines().count
        #expect(before < 12)
        // Another program has its own part.
        for number in 0..<5 {
            try fixture.log.append(Fixture.entry("/usr/bin/y", group: "G\(number)", status: .success))
        }
        #expect(try fixture.lines().count == before + 5)
        // The first decision of a new kind is written immediately.
        try fixture.log.append(Fixture.entry(operation: "delete", group: "G", status: .success))
        #expect(try fixture.lines().count == before + 6)
        fixture.clock.advance(by: Fixture.throttledInterval)
        try fixture.log.writeDueRepeats()
        let own = try fixture.objects().filter { $0.program == "/usr/bin/x" }
        #expect(own.reduce(0) { $0 + $1.decisions } == 1001)
        #expect(own.last?.throttled == true && own.last?.group == nil)
        #expect(try fixture.log.verify().isIntact)
    }

    @Test("AUD-10: a restart does not reset the part of the file that a program has used up")
    func throttledAfterRestart() throws {
        let fixture = try Fixture(limits: Fixture.limits(programLength: 2000))
        for number in 0..<50 { try fixture.log.append(Fixture.entry(group: "G\(number)", status: .success)) }
        try fixture.restart(orderly: true)
        let before = try fixture.lines().count
        for number in 0..<50 { try fixture.log.append(Fixture.entry(group: "H\(number)", status: .success)) }
        #expect(try fixture.lines().count == before + 1)
    }

    @Test(
        "AUD-10: a throttled program gets its own lines again in the next file, begun because of the file's age",
        arguments: [false, true])
    func throttleEnds(_ restarts: Bool) throws {
        let fixture = try Fixture(limits: Fixture.limits(programLength: 2000))
        func append(_ count: Int) throws -> Int {
            let before = try fixture.lines().count
            for number in 0..<count { try fixture.log.append(Fixture.entry(group: "G\(number)", status: .success)) }
            return try fixture.lines().count - before
        }
        #expect(try append(50) < 12)
        fixture.clock.advance(by: 86400)
        if restarts { try fixture.restart(orderly: true) }
        // It is still throttled: the repetitions, and the first of five.
        #expect(try append(5) <= 2)
        fixture.clock.advance(by: 86400)
        let again = try append(5)
        #expect(again >= 5)
        fixture.log.close()
        #expect(try fixture.objects().reduce(0) { $0 + $1.decisions } == 60)
        #expect(FileManager.default.fileExists(atPath: "\(fixture.path).1"))
        #expect(try fixture.log.verify().isIntact)
    }

    @Test("The number of counters has a limit; a counter that is replaced writes its repetitions")
    func boundedCounters() throws {
        let limits = AuditLog.Limits(fileLength: 1 << 20, totalLength: 1 << 24, programLength: .max, maxCounters: 8)
        var repeats = AuditDeduplicator(limits)
        var decisions = 0
        for round in 0..<3 {
            for program in 0..<100 {
                for content in repeats.take(
                    AuditEvent(entry: Fixture.entry("/bin/\(program % 20)"), time: Double(round)))
                {
                    switch content {
                    case .decision: decisions += 1
                    case .repeats(let repetition): decisions += repetition.count
                    case .removal, .gap: Issue.record("nothing was removed")
                    }
                }
                #expect(repeats.pending.count <= 8)
            }
        }
        #expect(decisions + repeats.pending.reduce(0) { $0 + $1.count } == 300)
    }

    @Test("Decisions that could not be written are counted again, exactly once")
    func rolledBack() {
        var repeats = AuditDeduplicator(Fixture.limits())
        func take(_ entry: AuditEntry, _ time: Double) -> [AuditContent] {
            repeats.take(AuditEvent(entry: entry, time: time))
        }
        #expect(take(Fixture.entry(), 1).count == 1)
        for _ in 0..<3 { #expect(take(Fixture.entry(), 2).isEmpty) }
        repeats.commit()
        for _ in 0..<5 {
            #expect(take(Fixture.entry(operation: "add"), 3).count == 2)
            repeats.rollBack()
            #expect(repeats.pending.map(\.count) == [3])
        }
        #expect(repeats.takeExpired(at: 2 * Fixture.repeatInterval).count == 1)
        repeats.rollBack()
        #expect(repeats.endAll().count == 1)
        repeats.commit()
        #expect(repeats.pending.isEmpty && repeats.endAll().isEmpty)
    }

    @Test("If lines cannot be written, repetitions stay counted until they can be")
    func unwritable() throws {
        let fixture = try Fixture(
            limits: AuditLog.Limits(fileLength: 1000, totalLength: 1 << 20, maxFiles: 1, programLength: .max))
        while try Data(contentsOf: URL(filePath: fixture.path)).count < 1000 { try fixture.append(1) }
        // The next line needs a new file, but a directory has its name and cannot be replaced.
        try FileManager.default.createDirectory(atPath: "\(fixture.path).1/x", withIntermediateDirectories: true)
        #expect(throws: KeychainError.self) { try fixture.log.append(Fixture.entry()) }
        try FileManager.default.removeItem(atPath: "\(fixture.path).1")
        try fixture.log.append(Fixture.entry())
        try fixture.log.append(Fixture.entry())
        fixture.log.close()
        #expect(try fixture.objects().suffix(2).map(\.repeated) == [nil, 1])
    }

    @Test("A thread of the log writes repetitions without another call", .long)
    func byItself() throws {
        let limits = AuditLog.Limits(
            fileLength: 1 << 20, totalLength: 1 << 24, programLength: .max, repeatInterval: 0.5, throttledInterval: 0.5)
        let directory = try TemporaryDirectory()
        let service = try EmbeddedService(home: KeychainHome(root: directory.path))
        defer { service.close() }
        let log = try service.openAuditLog(limits: limits)
        defer { log.close() }
        // More than fit into one interval: at least one is counted, and no line is written after
        // them.
        for _ in 0..<10 { try log.append(Fixture.entry()) }
        func decisions() throws -> Int {
            try log.reading(after: 0, since: nil).allLines().reduce(0) { count, line in
                count + ((try? JSONDecoder().decode(AuditObject.self, from: Data(line.utf8)))?.decisions ?? 0)
            }
        }
        for _ in 0..<6000 where try decisions() < 10 { usleep(10_000) }
        #expect(try decisions() == 10)
    }
}

/// A clock that keeps one thread after it has read the time: until it is released, or for half a second, because who
/// would release it may wait for the thread.
private final class HoldingClock: Sendable {
    let isHeld = DispatchSemaphore(value: 0)
    let release = DispatchSemaphore(value: 0)
    private let clock: TestClock
    private let thread = SystemMutex<pthread_t?>(nil)

    init(_ clock: TestClock) { self.clock = clock }

    /// Keeps the calling thread when it reads the time the next time.
    func holdThisThread() { thread.withLock { $0 = pthread_self() } }

    func now() -> Double {
        let time = clock.now
        let isChosen = thread.withLock { thread in
            guard thread == pthread_self() else { return false }
            thread = nil
            return true
        }
        if isChosen {
            isHeld.signal()
            _ = release.wait(timeout: .now() + 0.5)
        }
        return time
    }
}

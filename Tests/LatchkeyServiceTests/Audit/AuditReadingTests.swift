// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@testable import LatchkeyService
import LinuxSystem
import Synchronization
import Testing

/// Reading the log while it is being written.
@Suite("Readings of the audit log")
struct AuditReadingTests {
    private typealias Fixture = AuditLogTests.Fixture

    private func number(_ line: String) -> Int? { Int(line.dropFirst(#"{"sequence":"#.count).prefix { $0.isNumber }) }

    @Test(
        "AUD-14: a reading returns the lines of its time, even if their files are renamed and removed before they are read",
        arguments: [0, 1, 4])
    func removedFiles(_ readBefore: Int) throws {
        let fixture = try Fixture(limits: Fixture.limits(fileLength: 1000, totalLength: 4500, minimumAge: 0))
        try fixture.append(10)
        let expected = try fixture.lines()
        let reading = try fixture.log.reading(after: 0, since: nil)
        var lines: [String] = []
        for _ in 0..<readBefore { lines += try reading.nextPart(length: 1).lines }
        #expect(lines == Array(expected.prefix(readBefore)))
        try fixture.append(60)
        #expect(try Set(fixture.lines()).isDisjoint(with: expected))
        lines += try reading.allLines(length: 700)
        #expect(lines == expected && number(lines.last ?? "") == Int(reading.last))
    }

    @Test("AUD-14: a reading returns the refusals of its time, even if gaps replace them before they are read")
    func compactedFiles() throws {
        let fixture = try Fixture(limits: Fixture.limits(fileLength: 5000, totalLength: 30_000))
        for number in 0..<60 { try fixture.log.append(Fixture.entry("/tmp/flood\(number)", group: "G")) }
        let expected = try fixture.lines()
        let reading = try fixture.log.reading(after: 0, since: nil)
        for number in 60..<400 { try fixture.log.append(Fixture.entry("/tmp/flood\(number)", group: "G")) }
        #expect(try fixture.objects().contains { $0.operation == "gap" })
        #expect(try reading.allLines() == expected)
    }

    @Test("AUD-14: while another thread writes and rotates the files, no reading has a gap", .long)
    func concurrentRotation() throws {
        let fixture = try Fixture(limits: Fixture.limits(fileLength: 2000))
        try fixture.append(1)
        let log = fixture.log
        let (written, isSufficient, hasEnded) = (SharedCount(), SharedCount(), SharedCount())
        BackgroundThread.run {
            while isSufficient.value == 0, (try? log.append(Fixture.entry("/usr/bin/x", status: .success))) != nil {
                written.add()
            }
            hasEnded.add()
        }
        defer { isSufficient.add() }
        var readings = 0
        while readings < 50 || (written.value < 200 && hasEnded.value == 0) {
            let reading = try log.reading(after: 0, since: nil)
            let numbers = try reading.allLines(length: 1000).compactMap(number)
            let first = try #require(numbers.first)
            #expect(numbers == Array(first...Int(reading.last)))
            readings += 1
        }
        isSufficient.add()
        #expect(eventually { hasEnded.value == 1 })
        #expect(written.value >= 200)
    }

    @Test("While another thread writes and rotates the files, an intact log is never reported as damaged", .long)
    func concurrentVerification() throws {
        let fixture = try Fixture(limits: Fixture.limits(fileLength: 20_000))
        let log = fixture.log
        let (written, isSufficient, hasEnded) = (SharedCount(), SharedCount(), SharedCount())
        // Long lines, so that many of them cross the end of a page.
        let program = "/usr/bin/" + String(repeating: "x", count: 1000)
        BackgroundThread.run {
            while isSufficient.value == 0, (try? log.append(Fixture.entry(program, status: .success))) != nil {
                written.add()
            }
            hasEnded.add()
        }
        defer { isSufficient.add() }
        var verifications = 0
        while verifications < 50 || (written.value < 200 && hasEnded.value == 0) {
            let verdict = try log.verify()
            #expect(verdict.isIntact, "\(verdict)")
            verifications += 1
        }
        isSufficient.add()
        #expect(eventually { hasEnded.value == 1 })
        #expect(written.value >= 200)
    }

    @Test("A part has as many lines as its length requires, and the last part is marked", arguments: [1, 400, 1 << 20])
    func parts(_ length: Int) throws {
        let fixture = try Fixture()
        try fixture.append(20)
        let reading = try fixture.log.reading(after: 5, since: nil)
        var (lines, isLast): ([String], Bool) = ([], false)
        while !isLast {
            let part = try reading.nextPart(length: length)
            #expect(length > 1 || part.lines.count == (part.isLast ? 0 : 1))
            lines += part.lines
            isLast = part.isLast
        }
        #expect(lines.compactMap(number) == Array(6...20))
        let end = try reading.nextPart(length: length)
        #expect(end.isLast && end.lines.isEmpty)
    }

    @Test("A reading returns the lines after any number, and reads no file without such lines")
    func behindNumbers() throws {
        let fixture = try Fixture(limits: Fixture.limits(fileLength: 1000))
        try fixture.append(30)
        let expected = try fixture.lines()
        let count = try fixture.log.reading(after: 0, since: nil).files.count
        #expect(count >= 5)
        for after in 0...expected.count + 1 {
            #expect(try fixture.lines(after: UInt64(after)) == Array(expected.dropFirst(after)), "after \(after)")
            let reading = try fixture.log.reading(after: UInt64(after), since: nil)
            _ = try reading.nextPart(length: 1)
            #expect(after < expected.count - 4 || reading.files.count <= 2)
        }
        #expect(try fixture.lines(after: .max).isEmpty)
    }

    @Test("A reading that is cancelled ends with an error")
    func cancelled() throws {
        let fixture = try Fixture()
        try fixture.append(3)
        let reading = try fixture.log.reading(after: 0, since: nil)
        let cancellation = Cancellation()
        cancellation.request()
        let error = Cancellation.$current.withValue(cancellation) {
            #expect(throws: KeychainError.self) { try reading.nextPart(length: 1000) }
        }
        #expect(error?.status == .notAvailable)
        #expect(try reading.allLines().count == 3)
    }

    // MARK: Files

    @Test(
        "A file is read up to its length when it was opened; a truncated file ends early, and a missing file has no reader"
    )
    func reader() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/audit.log"
        #expect(try AuditLineReader.open(path) == nil)
        try "one\ntwo\nthr".write(toFile: path, atomically: false, encoding: .utf8)
        let (whole, cut) = (try #require(try AuditLineReader.open(path)), try #require(try AuditLineReader.open(path)))
        let file = try AuditFile(appendingTo: path)
        try file.append(Array("ee\nfour\n".utf8))
        #expect(try whole.next()?.bytes == Array("one".utf8) && whole.next()?.bytes == Array("two".utf8))
        #expect(try whole.next() == nil && whole.hasPartialLine && whole.length == 8)
        try file.cut(to: 4)
        #expect(try cut.next()?.bytes == Array("one".utf8))
        #expect(try cut.next() == nil && !cut.hasPartialLine && cut.length == 4)
    }

    @Test(
        "Lines of every length are read across the ends of blocks; an unterminated line is returned in pieces",
        arguments: [0, 1, 65_535, 65_536, 65_537])
    func lineLengths(_ length: Int) throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/audit.log"
        let lines = [length, 3, length, 70_000].map { [UInt8](repeating: UInt8(ascii: "x"), count: $0) }
        let content = Array(lines.joined(separator: [UInt8(ascii: "\n")])) + [UInt8(ascii: "\n")]
        try Data(content + Array("rest".utf8)).write(to: URL(filePath: path))
        let reader = try #require(try AuditLineReader.open(path))
        var found: [Int] = []
        while let line = try reader.next() { found.append(line.bytes.count) }
        #expect(found.reduce(0, +) == lines.reduce(0) { $0 + $1.count })
        #expect(found.prefix(3) == [length, 3, length] && reader.length == content.count && reader.hasPartialLine)
    }
}

private final class SharedCount: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .sequentiallyConsistent) }
    func add() { count.add(1, ordering: .sequentiallyConsistent) }
}

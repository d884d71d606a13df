// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@testable import LatchkeyService
import LinuxSystem
import Testing

/// The user ids that subuid(5) grants, and those that are refused.
@Suite("Subordinate user ids")
struct SubordinateUsersTests {
    private final class FakeMachine {
        let directory: TemporaryDirectory
        let subordinates: SubordinateUsers
        var ranges: String { "\(directory.path)/subuid" }
        var users: String { "\(directory.path)/passwd" }

        init(_ content: String? = nil, users: String? = "root:x:0:0::/root:/bin/sh\nalice:x:1000:1000::/:/bin/sh\n")
            throws
        {
            directory = try TemporaryDirectory()
            subordinates = SubordinateUsers("\(directory.path)/subuid", users: "\(directory.path)/passwd")
            if let content { try write(content) }
            if let users { try users.write(toFile: self.users, atomically: true, encoding: .utf8) }
        }

        func write(_ content: String) throws { try content.write(toFile: ranges, atomically: true, encoding: .utf8) }

        func refusal(of user: UInt32) -> KeychainError? {
            do throws(KeychainError) {
                try subordinates.refuse(user)
                return nil
            } catch {
                return error
            }
        }
    }

    // MARK: The file

    @Test(
        "A line grants as many ids as its count from its start, up to the largest id",
        arguments: [
            ("alice:100000:65536", [100_000, 165_535], [0, 99_999, 165_536]),
            ("1000:100000:1\n", [100_000], [99_999, 100_001]),
            ("a:5:2\nb:7:2\nc:6:1", [5, 6, 7, 8], [4, 9]), ("a:5:9\nb:6:1", [5, 6, 13], [14]),
            ("a:10:2\nb:5:2", [5, 6, 10, 11], [7, 9]),
            ("a:0:1", [0], [1]), ("a:1:4294967295", [1, .max], [0]), ("a:4294967295:1", [.max], [.max - 1]),
            ("a:4294967290:100", [4_294_967_290, .max], [5]), ("a:1:18446744073709551615", [1, .max], [0]),
            ("a:4294967296:5", [], [0, 4, .max]), ("a:18446744073709551615:18446744073709551615", [], [0, .max]),
            ("a:100:0", [], [99, 100]),
            ("\n\n# a:5:5\n  # a:5:5\n \t\n", [], [5]), ("", [], [0, .max]), ("a b\u{0}:5:1", [5], [6]),
        ] as [(String, [UInt32], [UInt32])])
    func ranges(_ text: String, _ granted: [UInt32], _ others: [UInt32]) throws {
        let ranges = try SubordinateRanges(parsing: Array(text.utf8), path: "subuid")
        #expect(granted.allSatisfy { ranges.contains($0) } && !others.contains { ranges.contains($0) })
    }

    @Test(
        "An invalid line is rejected with its number, because newuidmap may accept it",
        arguments: [
            "alice", "alice:1", "alice:1:2:3", ":1:2", "alice::5", "alice:5:", "alice:-1:5", "alice:+1:5", "alice: 1:5",
            "alice:1:5 ",
            "alice:1:5\r", "alice:0x186a0:5", "alice:0303240:5", "alice:1:05", "alice:1:0x10", "alice:1e5:5",
            "alice:1:5\u{0}",
            "alice:18446744073709551616:1", "alice:1:99999999999999999999999999", "alice:\u{0661}:5", "::", ":",
        ])
    func unreadable(_ line: String) throws {
        let error = #expect(throws: SystemError.self) {
            try SubordinateRanges(parsing: Array("bob:7:1\n\(line)\n".utf8), path: "subuid")
        }
        #expect(error?.code == EINVAL && error?.description.contains("line 2 of subuid") == true)
    }

    @Test("Bytes that are not text are valid in an owner, and invalid in a number")
    func bytes() throws {
        #expect(try SubordinateRanges(parsing: [0xFF, 0xFE] + Array(":5:1".utf8), path: "subuid").contains(5))
        #expect(throws: SystemError.self) {
            try SubordinateRanges(parsing: Array("a:".utf8) + [0xFF] + Array(":1".utf8), path: "subuid")
        }
    }

    @Test("Lines are read up to the maximum number")
    func manyLines() throws {
        let line = "a:100000:65536\n"
        let most = String(repeating: line, count: 99_999)
        #expect(try SubordinateRanges(parsing: Array(most.utf8), path: "subuid").contains(100_000))
        let error = #expect(throws: SystemError.self) {
            try SubordinateRanges(parsing: Array((most + line).utf8), path: "subuid")
        }
        #expect(error?.code == EFBIG)
    }

    // MARK: Refusing

    @Test("An id in a range is refused with a reason; accounts, root and all other ids are not")
    func refused() throws {
        let machine = try FakeMachine("alice:0:2000\nalice:100000:65536\n")
        for user in [0, 1000, 2000, 99_999, 165_536] as [UInt32] {
            #expect(machine.refusal(of: user) == nil, "\(user)")
        }
        for user in [1, 999, 1001, 100_000, 165_535] as [UInt32] {
            let error = machine.refusal(of: user)
            #expect(error?.status == .missingEntitlement && error?.problem.contains("user \(user)") == true)
            #expect(
                error?.problem.contains(machine.ranges) == true
                    && error?.hint?.contains("subordinate-users = allow") == true)
        }
    }

    @Test("Without a file no id is subordinate")
    func missing() throws {
        #expect(try FakeMachine().refusal(of: 100_000) == nil)
    }

    @Test("While the file is invalid, every id without an account is refused, and the message names the line")
    func failsClosed() throws {
        let machine = try FakeMachine("alice:100000:65536\nbob:0x40000:65536\n")
        for user in [5, 100_000, 262_144] as [UInt32] {
            #expect(machine.refusal(of: user)?.problem.contains("line 2 of \(machine.ranges)") == true)
        }
        #expect(machine.refusal(of: 1000) == nil && machine.refusal(of: 0) == nil)
        try machine.write("alice:100000:65536\nbob:262144:65536\n")
        #expect(machine.refusal(of: 5) == nil && machine.refusal(of: 262_144) != nil)
    }

    @Test(
        "A directory in place of the file, or a file that is too long, does not count as a file without ranges",
        arguments: [true, false])
    func unusable(_ isDirectory: Bool) throws {
        let machine = try FakeMachine()
        if isDirectory {
            try FileManager.default.createDirectory(atPath: machine.ranges, withIntermediateDirectories: false)
        } else {
            try machine.write(String(repeating: "#\n", count: 3 << 20))
        }
        #expect(machine.refusal(of: 5)?.status == .missingEntitlement)
        #expect(machine.refusal(of: 1000) == nil)
    }

    @Test(
        "While a file cannot be read, ids that depend on it are refused temporarily, and the next call tries again",
        arguments: [true, false])
    func unread(_ isRanges: Bool) throws {
        let machine = try FakeMachine("alice:100000:65536\n")
        let path = isRanges ? machine.ranges : machine.users
        try FileManager.default.removeItem(atPath: path)
        // A symbolic link to itself cannot be read, and stat(2) fails for it as for a missing file.
        #expect(symlink(path, path) == 0)
        for _ in 0..<3 { #expect(machine.refusal(of: 100_000)?.status == .notAvailable) }
        #expect(machine.refusal(of: 5)?.status == (isRanges ? .notAvailable : nil))
        #expect(machine.refusal(of: 0) == nil && (machine.refusal(of: 1000) == nil))
        try FileManager.default.removeItem(atPath: path)
        #expect(machine.refusal(of: 100_000)?.status == (isRanges ? nil : .missingEntitlement))
    }

    @Test("If the user file is missing, no account is known")
    func noAccounts() throws {
        let machine = try FakeMachine("alice:1000:5\n", users: nil)
        #expect(machine.refusal(of: 1000) != nil && machine.refusal(of: 0) == nil && machine.refusal(of: 2000) == nil)
        try "alice:x:1000:1000::/:/bin/sh\nmallory:x:1001\n".write(
            toFile: machine.users, atomically: true, encoding: .utf8)
        #expect(machine.refusal(of: 1000) == nil && machine.refusal(of: 1001) != nil)
    }

    @Test("The file is read again only after it has changed")
    func rereads() throws {
        let machine = try FakeMachine("alice:100000:65536\n")
        for _ in 0..<50 { #expect(machine.refusal(of: 100_000) != nil) }
        #expect(machine.subordinates.readCount == 1)
        try machine.write("alice:200000:65536\n")
        for _ in 0..<50 { #expect(machine.refusal(of: 100_000) == nil && machine.refusal(of: 200_000) != nil) }
        #expect(machine.subordinates.readCount == 2)
        try FileManager.default.removeItem(atPath: machine.ranges)
        #expect(machine.refusal(of: 200_000) == nil)
        // An invalid file is not read again for each connection either.
        try machine.write("alice\n")
        for _ in 0..<50 { #expect(machine.refusal(of: 5) != nil) }
        #expect(machine.subordinates.readCount == 4)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@testable import LatchkeyService

/// Entries of several programs, and the lines that result from them.
extension AuditLogTests.Fixture {
    /// Limits that a few dozen lines reach.
    static func limits(
        fileLength: Int = 1 << 20, totalLength: Int = 1 << 24, minimumAge: Double = 30 * 86400,
        programLength: Int = .max,
        maxRepeats: Int = 10_000
    ) -> AuditLog.Limits {
        AuditLog.Limits(
            fileLength: fileLength, totalLength: totalLength, minimumAge: minimumAge, programLength: programLength,
            repeatInterval: repeatInterval, throttledInterval: throttledInterval, maxRepeats: maxRepeats)
    }

    /// In seconds. The log also waits for them by the clock of the machine: no test takes so long.
    static let repeatInterval = 7200.0
    static let throttledInterval = 36_000.0

    /// The usual limits with these intervals.
    static let usualLimits = {
        var limits = AuditLog.Limits()
        (limits.repeatInterval, limits.throttledInterval) = (repeatInterval, throttledInterval)
        return limits
    }()

    static func entry(
        _ program: String = "/usr/bin/x", operation: String = "copy", group: String? = nil,
        status: OSStatusCode = .itemNotFound,
        passcode: AuditEntry.Passcode? = nil, process: Int32 = 2
    ) -> AuditEntry {
        let caller = CallerIdentity(
            executable: program, process: CallerIdentity.ProcessIdentity(user: 1, process: process))
        return AuditEntry(
            caller: caller, operation: operation, itemClass: .genericPassword,
            group: group.map { AccessGroup($0, grade: .claimed) },
            status: status, passcode: passcode)
    }

    /// The lines of the log, read as JSON.
    func objects() throws -> [AuditObject] { try readObjects(of: log) }

    func readObjects(of log: AuditLog) throws -> [AuditObject] {
        try log.reading(after: 0, since: nil).allLines().map {
            try JSONDecoder().decode(AuditObject.self, from: Data($0.utf8))
        }
    }

    /// The length of all files together, in bytes.
    func totalLength() throws -> Int {
        let state = "\(directory.path)/state"
        let names = try FileManager.default.contentsOfDirectory(atPath: state).filter { $0.hasPrefix("audit.log") }
        return try names.reduce(0) { try $0 + Data(contentsOf: URL(filePath: "\(state)/\($1)")).count }
    }
}

extension AuditReading {
    /// Returns the remaining lines, read in parts of this length.
    func allLines(length: Int = 1 << 16) throws -> [String] {
        var lines: [String] = []
        while true {
            let part = try nextPart(length: length)
            lines += part.lines
            if part.isLast { return lines }
        }
    }
}

/// The members of a line that the tests use.
struct AuditObject: Decodable {
    var sequence: UInt64
    var time: String
    var program: String
    var programBytes: Int?
    var programDigest: String?
    var operation: String
    var group: String?
    var status: Int32
    var passcode: String?
    var repeated: Int?
    var first: String?
    var last: String?
    var throttled: Bool?
    var reason: String?
    var from: UInt64?
    var to: UInt64?
    var lines: UInt64?
    var refused: UInt64?

    /// The number of decisions that the line reports.
    var decisions: Int { operation == "gap" ? Int(refused ?? 0) : repeated ?? 1 }
}

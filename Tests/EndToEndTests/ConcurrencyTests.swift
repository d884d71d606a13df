// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyService
import Testing

extension ProcessProofs {
    /// Eight processes on the same hundred items: every answer is one that some order of the calls explains.
    @Suite("Concurrency")
    struct ConcurrencyTests {
        /// One call of one process.
        struct Call {
            let operation: String
            let item: String
            let value: String
            let start: UInt64
            let end: UInt64
            let status: Int32

            init?(_ line: Substring) {
                let words = line.split(separator: " ")
                guard words.count == 6, let start = UInt64(words[3]), let end = UInt64(words[4]), let status = Int32(words[5]) else {
                    return nil
                }
                (operation, item, value) = (String(words[0]), String(words[1]), String(words[2]))
                (self.start, self.end, self.status) = (start, end, status)
            }

            /// The value that the call left behind; nil stands for "no item". Only for writes that were acknowledged.
            var outcome: String? { operation == "delete" ? nil : value }
            var isWrite: Bool { operation != "read" && status == 0 }
        }

        @Test("Eight processes lose no acknowledged write, see no stale value and make no duplicate")
        func eightProcesses() throws {
            // The time of the issue is 20 seconds; `make soak` sets more.
            let seconds = ProcessInfo.processInfo.environment["LATCHKEY_CHURN_SECONDS"] ?? "20"
            let home = try TemporaryDirectory()
            let calls = try churn(seconds: seconds, home: home)
            #expect(calls.count > 1000)

            let documented: [String: Set<Int32>] = [
                "add": [0, -25299], "update": [0, -25300], "delete": [0, -25300], "read": [0, -25300],
            ]
            let unexpected = calls.filter { documented[$0.operation]?.contains($0.status) != true }
            #expect(unexpected.isEmpty, "\(unexpected.prefix(3))")

            let keychain = try ReopenedKeychain(home)
            let accounts = try keychain.accounts()
            #expect(Set(accounts).count == accounts.count, "an item is there twice")
            for (item, calls) in Dictionary(grouping: calls, by: \.item) {
                let history = History(calls)
                for read in calls where read.operation == "read" {
                    #expect(
                        history.explains(read.status == 0 ? read.value : nil, from: read.start, to: read.end), "a stale read of \(item)")
                }
                #expect(history.explains(try keychain.data(account: item), from: .max, to: .max), "a lost write of \(item)")
            }
            keychain.service.close()
        }

        private func churn(seconds: String, home: TemporaryDirectory) throws -> [Call] {
            let running = try (0..<8).map { number in
                let output = "\(home.path)/log-\(number)"
                _ = FileManager.default.createFile(atPath: output, contents: nil)
                let process = Executable.process("ProofWorker", ["churn", seconds, "p\(number)"], home: home.path)
                process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
                try process.run()
                return (process, output)
            }
            return try running.flatMap { process, output in
                process.waitUntilExit()
                #expect(process.terminationStatus == 0)
                return try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n").compactMap(Call.init)
            }
        }
    }
}

/// The acknowledged writes of one item, and what they allow to be seen.
private struct History {
    private struct Write {
        let value: String?
        let start: UInt64
        let end: UInt64
    }

    /// Sorted by start.
    private let writes: [Write]
    /// For each write, the earliest end among it and all that started later.
    private let earliestEnd: [UInt64]

    init(_ calls: [ProcessProofs.ConcurrencyTests.Call]) {
        // Before everything, there was no item.
        let writes =
            [Write(value: nil, start: 0, end: 0)]
            + calls.filter(\.isWrite).map { Write(value: $0.outcome, start: $0.start, end: $0.end) }.sorted { $0.start < $1.start }
        var earliest = UInt64.max
        earliestEnd = writes.reversed().map { write in
            earliest = min(earliest, write.end)
            return earliest
        }.reversed()
        self.writes = writes
    }

    /// Whether `value` can be what was there at some moment between the two times: some write left it, began before the end, and no
    /// other write began after that write's end and ended before the beginning.
    func explains(_ value: String?, from start: UInt64, to end: UInt64) -> Bool {
        writes.contains { $0.value == value && $0.start < end && !isOverwritten($0, before: start) }
    }

    private func isOverwritten(_ write: Write, before moment: UInt64) -> Bool {
        var low = 0
        var high = writes.count
        while low < high {
            let middle = (low + high) / 2
            if writes[middle].start > write.end { high = middle } else { low = middle + 1 }
        }
        return low < writes.count && earliestEnd[low] < moment
    }
}

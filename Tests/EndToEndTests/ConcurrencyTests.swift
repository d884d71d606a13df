// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyService
import Testing

extension ProcessProofs {
    /// Eight processes use the same hundred items: some order of the calls explains every result.
    @Suite("Concurrency")
    struct ConcurrencyTests {
        @Test("Eight processes lose no acknowledged write, read no stale value and create no duplicate", .long)
        func eightProcesses() throws {
            // `make churn` sets 600. A slow machine takes longer, because each process makes a
            // minimum of calls.
            let seconds = ProcessInfo.processInfo.environment["LATCHKEY_CHURN_SECONDS"] ?? "20"
            let home = try TemporaryDirectory()
            let calls = try churn(seconds: seconds, home: home)
            #expect(calls.count >= 8 * Self.minimum)

            Self.expectDocumented(calls)
            let keychain = try ReopenedKeychain(home)
            let accounts = try keychain.accounts()
            #expect(Set(accounts).count == accounts.count, "an item exists twice")
            try expectExplained(calls) { item in try keychain.data(account: item) }
            keychain.service.close()
        }

        @Test("Eight processes with one own group find its items before shared ones, which they do not change", .long)
        func ownGroup() throws {
            let home = try TemporaryDirectory()
            let accounts = (0..<100).map { "item-\($0)" }
            var keychain = try ReopenedKeychain(home)
            for account in accounts { try keychain.add(account: account, data: "shared") }
            keychain.service.close()
            let calls = try churn(seconds: "2", home: home, "upsert")
            #expect(calls.contains { $0.operation == "add" && $0.status == 0 })
            #expect(calls.contains { $0.operation == "update" && $0.status == 0 })
            Self.expectDocumented(calls)

            keychain = try ReopenedKeychain(home)
            for account in accounts {
                #expect(try keychain.data(account: account, group: "latchkey.shared") == "shared")
            }
            try expectExplained(calls, first: "shared") { item in
                try keychain.data(account: item, group: "program.ProofWorker") ?? "shared"
            }
            keychain.service.close()
        }

        private static func expectDocumented(_ calls: [Call]) {
            let unexpected = calls.filter { !$0.isDocumented }
            #expect(unexpected.isEmpty, "\(unexpected.prefix(3))")
        }

        /// Expects that the writes explain each read, and the last value.
        ///
        /// - Parameter first: the value of each item before the calls.
        private func expectExplained(
            _ calls: [Call], first: String? = nil, last: (String) throws -> String?
        ) throws {
            for (item, calls) in Dictionary(grouping: calls, by: \.item) {
                let history = History(calls, first: first)
                for read in calls where read.operation == "read" {
                    #expect(
                        history.explains(read.status == 0 ? read.value : nil, from: read.start, to: read.end),
                        "a stale read of \(item)")
                }
                #expect(history.explains(try last(item), from: .max, to: .max), "a lost write of \(item)")
            }
        }

        /// The minimum number of calls of each process.
        private static let minimum = 200

        private func churn(seconds: String, home: TemporaryDirectory, _ words: String...) throws -> [Call] {
            let running = try (0..<8).map { number in
                let output = "\(home.path)/log-\(number)"
                _ = FileManager.default.createFile(atPath: output, contents: nil)
                let process = Executable.process(
                    "ProofWorker", ["churn", seconds, "p\(number)", "0", "\(Self.minimum)"] + words, home: home.path)
                process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
                try process.start()
                return (process, output)
            }
            return try running.flatMap { process, output in
                #expect(process.awaitExit(limit: 600 + (Double(seconds) ?? 0)) == 0)
                return try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n").compactMap(Call.init)
            }
        }
    }
}

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

            let unexpected = calls.filter { !$0.isDocumented }
            #expect(unexpected.isEmpty, "\(unexpected.prefix(3))")

            let keychain = try ReopenedKeychain(home)
            let accounts = try keychain.accounts()
            #expect(Set(accounts).count == accounts.count, "an item exists twice")
            for (item, calls) in Dictionary(grouping: calls, by: \.item) {
                let history = History(calls)
                for read in calls where read.operation == "read" {
                    #expect(
                        history.explains(read.status == 0 ? read.value : nil, from: read.start, to: read.end),
                        "a stale read of \(item)")
                }
                #expect(
                    history.explains(try keychain.data(account: item), from: .max, to: .max), "a lost write of \(item)")
            }
            keychain.service.close()
        }

        /// The minimum number of calls of each process.
        private static let minimum = 200

        private func churn(seconds: String, home: TemporaryDirectory) throws -> [Call] {
            let running = try (0..<8).map { number in
                let output = "\(home.path)/log-\(number)"
                _ = FileManager.default.createFile(atPath: output, contents: nil)
                let process = Executable.process(
                    "ProofWorker", ["churn", seconds, "p\(number)", "0", "\(Self.minimum)"], home: home.path)
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

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Testing

extension ProcessProofs.SoakTests {
    @Test(
        "In system mode two users get correct results while a third floods the daemon with connections, searches and large keys",
        .long,
        .long,
        .enabled(if: SystemDaemon.isPossible, SystemDaemon.reason))
    func hostileUser() throws {
        // `make soak` sets 600. A slow machine takes longer, because each user makes a minimum of
        // calls.
        let seconds = ProcessInfo.processInfo.environment["LATCHKEY_SOAK_SECONDS"].flatMap(Double.init) ?? 10
        let daemon = try SystemDaemon()
        let hostile = try daemon.start(as: 4666, "ProofWorker", ["flood"], output: "flood")
        func rounds(_ word: String, _ name: String) throws -> Int {
            try String(contentsOfFile: "\(daemon.directory.path)/flood", encoding: .utf8).split(separator: "\n").count {
                $0 == "\(word) \(name)"
            }
        }
        let attacks = ["connections", "lookups", "searches", "keys"]
        #expect(try eventually { try attacks.allSatisfy { try rounds("try", $0) > 0 } }, "the flood has not begun")

        let users: [uid_t] = [4001, 4002]
        let churners = try users.map { user in
            try daemon.start(
                as: user, "ProofWorker", ["churn", "\(seconds)", "u\(user)", "1000", "\(Self.minimum)"],
                output: "churn-\(user)")
        }
        for churner in churners { #expect(churner.awaitExit(limit: 600 + seconds) == 0) }
        #expect(hostile.isRunning, "the flood ended before the users did")
        #expect(daemon.process.process.isRunning, "\(daemon.process.logText)")
        // Generating a key may take longer than all other operations.
        #expect(
            try eventually { try attacks.dropLast().allSatisfy { try rounds("did", $0) >= 3 } },
            "the flood has stopped")
        hostile.stop(signal: SIGKILL)

        for user in users {
            try verify(user, daemon)
            let verdict = try daemon.run(as: user, "latchkey", ["log", "verify"])
            #expect(verdict.hasPrefix("intact"), "\(verdict)")
        }
        #expect(daemon.process.stop() == 0, "\(daemon.process.logText)")
    }

    /// The minimum number of calls of each user.
    private static let minimum = 200

    /// Checks that some order of a user's own calls explains every result, and that acknowledged
    /// writes exist.
    private func verify(_ user: uid_t, _ daemon: SystemDaemon) throws {
        let calls = try String(contentsOfFile: "\(daemon.directory.path)/churn-\(user)", encoding: .utf8).split(
            separator: "\n"
        )
        .compactMap { Call($0) }
        #expect(calls.count >= Self.minimum)
        let unexpected = calls.filter { !$0.isDocumented }
        #expect(unexpected.isEmpty, "\(user): \(unexpected.prefix(3))")
        let times = calls.filter { $0.operation == "read" }.map { $0.end - $0.start }.sorted()
        print("lookups of user \(user): \(times.count), median \(times.isEmpty ? 0 : times[times.count / 2] / 1000) µs")

        let found = Set(
            try daemon.run(as: user, "ProofWorker", ["item", "find", "-", "-"]).split(whereSeparator: \.isWhitespace)
                .dropFirst())
        for (item, calls) in Dictionary(grouping: calls, by: \.item) {
            let history = History(calls)
            let wrong = calls.filter {
                $0.operation == "read" && !history.explains($0.status == 0 ? $0.value : nil, from: $0.start, to: $0.end)
            }
            #expect(wrong.isEmpty, "\(wrong.count) wrong reads of \(item): \(wrong.prefix(2))")
            // No two writes have the same value.
            let stored = calls.first { $0.isWrite && found.contains(Substring($0.value)) }?.value
            #expect(history.explains(stored, from: .max, to: .max), "a lost write of \(item)")
        }
    }
}

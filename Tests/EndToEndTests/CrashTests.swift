// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import LatchkeyService
import Security
import Testing

extension ProcessProofs {
    /// Every acknowledged write is there after SIGKILL, nothing is half-written, and no stray file remains.
    @Suite("Crash")
    struct CrashTests {
        @Test("Killed at random moments, the keychain keeps what it acknowledged")
        func killedAtRandomMoments() throws {
            // `make crash` sets 3000.
            let rounds = ProcessInfo.processInfo.environment["LATCHKEY_CRASH_ROUNDS"].flatMap(Int.init) ?? 300
            var home = try TemporaryDirectory()
            var acknowledged = 0
            for round in 0..<rounds {
                // A new keychain now and then, so that the first start is killed as well.
                if round % 10 == 0 { home = try TemporaryDirectory() }
                let log = try killedWriter(round, home: home)
                acknowledged += try verify(log, home: home)
            }
            #expect(acknowledged > rounds, "the writers were killed before they wrote anything, so that nothing was proven")
        }

        /// What a writer said until it was killed.
        private func killedWriter(_ round: Int, home: TemporaryDirectory) throws -> [String] {
            let process = Executable.process("ProofWorker", ["write", "round\(round)"], home: home.path)
            let pipe = Pipe()
            process.standardOutput = pipe
            try process.run()
            var said = Data()
            // Half of them are killed while they start, the others while they write.
            if round.isMultiple(of: 2) {
                usleep(UInt32.random(in: 0..<60_000))
            } else {
                said = pipe.fileHandleForReading.availableData
                usleep(UInt32.random(in: 0..<30_000))
            }
            kill(process.processIdentifier, SIGKILL)
            said += pipe.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            // The last line may be cut short.
            return String(decoding: said, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(
                String.init)
        }

        /// Compares the keychain with what the writer said; the number of acknowledged writes.
        private func verify(_ log: [String], home: TemporaryDirectory) throws -> Int {
            let keychain = try ReopenedKeychain(home)
            var written: [String: (certain: String?, possible: String?)] = [:]
            var acknowledged = 0
            for line in log {
                let words = line.split(separator: " ").map(String.init)
                let (account, value) = (words[2], words[1] == "add" ? "\(words[2]):0" : "\(words[2]):1")
                if words[0] == "try" {
                    written[account, default: (nil, nil)].possible = value
                } else {
                    written[account] = (value, nil)
                    acknowledged += 1
                }
            }
            for (account, expected) in written {
                let found = try keychain.data(account: account)
                #expect([expected.certain, expected.possible].contains(found), "\(account): \(found ?? "nothing") for \(expected)")
                if expected.possible == nil { #expect(found == expected.certain) }
            }
            let unhealthy = try keychain.service.check { _ in }.filter { !$0.isHealthy }
            #expect(unhealthy.isEmpty, "\(unhealthy)")
            keychain.service.close()
            let files = Set(try home.files().keys.map { $0.split(separator: "/").last.map(String.init) ?? "" })
            #expect(files.isSubset(of: ["keychain.db", "keychain.db-wal", "keychain.db-shm", "device.key"]), "\(files)")
            return acknowledged
        }
    }
}

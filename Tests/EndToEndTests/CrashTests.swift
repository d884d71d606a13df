// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import LatchkeyService
import LatchkeySecurity
import Testing

extension ProcessProofs {
    /// After SIGKILL every acknowledged write exists, nothing is partly written, and no temporary
    /// file remains.
    @Suite("Crash")
    struct CrashTests {
        @Test("After SIGKILL at random times, the keychain contains every acknowledged write", .long)
        func killedAtRandomMoments() throws {
            // `make crash` sets 3000.
            let rounds = ProcessInfo.processInfo.environment["LATCHKEY_CRASH_ROUNDS"].flatMap(Int.init) ?? 300
            var home = try TemporaryDirectory()
            var expected = 0
            var acknowledged = 0
            for round in 0..<rounds {
                // Some rounds use a new keychain, so that its creation is killed as well.
                if round % 10 == 0 { home = try TemporaryDirectory() }
                // Half of the writers are killed while they start, the others after they have
                // acknowledged a few writes.
                let wanted = round.isMultiple(of: 2) ? 0 : Int.random(in: 1...8)
                let log = try killedWriter("round\(round)", after: wanted, home: home)
                let found = try verify(log, home: home)
                #expect(found >= wanted, "the writer exited before it was killed, after \(log.suffix(2))")
                expected += wanted
                acknowledged += found
            }
            #expect(acknowledged >= expected && expected >= rounds / 2, "too few acknowledged writes")
        }

        /// Returns the output of a writer that is killed at a random time after a number of
        /// acknowledged writes.
        private func killedWriter(_ name: String, after wanted: Int, home: TemporaryDirectory) throws -> [String] {
            let writer = try WatchedWorker(["write", name], home: home.path)
            writer.wait(forLines: wanted, startingWith: "did")
            usleep(UInt32.random(in: 0..<(wanted == 0 ? 60_000 : 10_000)))
            return writer.kill()
        }

        /// Compares the keychain with the writer's output; returns the number of acknowledged
        /// writes.
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
                #expect(
                    [expected.certain, expected.possible].contains(found),
                    "\(account): \(found ?? "nothing") for \(expected)")
                if expected.possible == nil { #expect(found == expected.certain) }
            }
            let unhealthy = try keychain.service.check { _ in }.filter { !$0.isHealthy }
            #expect(unhealthy.isEmpty, "\(unhealthy)")
            keychain.service.close()
            let files = Set(try home.files().keys.map { $0.split(separator: "/").last.map(String.init) ?? "" })
            #expect(
                files.isSubset(of: [
                    "keychain.db", "keychain.db-wal", "keychain.db-shm", "keychain.db-reserve", "device.key",
                ]), "\(files)")
            return acknowledged
        }
    }
}

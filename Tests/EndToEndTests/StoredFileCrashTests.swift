// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyService
import Testing

extension ProcessProofs {
    /// After SIGKILL, a file in the keychain is there whole, and nothing else is.
    @Suite("Crash of stored files")
    struct StoredFileCrashTests {
        @Test(
            "After SIGKILL at random times, a stored file has the old or the new content, and no other file is left",
            .long)
        func killedAtRandomMoments() throws {
            // `make crash` sets 3000.
            let rounds = ProcessInfo.processInfo.environment["LATCHKEY_CRASH_ROUNDS"].flatMap(Int.init) ?? 40
            let home = try TemporaryDirectory()
            var certain: Data?
            var (expected, acknowledged) = (0, 0)
            for round in 1...rounds {
                let worker = try WatchedWorker(["store", "\(round)"], home: home.path)
                // Half of the workers are killed while they start, the others after a few changes.
                let wanted = round.isMultiple(of: 2) ? 0 : Int.random(in: 1...4)
                worker.wait(forLines: wanted, startingWith: "did")
                expected += wanted
                usleep(UInt32.random(in: 0..<8_000))
                let log = worker.kill()
                #expect(!log.contains { $0.hasPrefix("failed") }, "\(log.suffix(2))")
                var possible = [certain]
                for words in log.map({ $0.split(separator: " ") }) where words.count == 3 && words[1] == "write" {
                    let content = Self.content(try #require(Int(words[2])))
                    if words[0] == "try" { possible.append(content) } else { possible = [content] }
                    acknowledged += words[0] == "did" ? 1 : 0
                }
                let keychain = try ReopenedKeychain(home)
                let found = try keychain.storedFile()
                keychain.service.close()
                #expect(possible.contains(found), "round \(round): \(found?.count ?? -1) bytes, \(log.suffix(3))")
                certain = found
                let files = (try? FileManager.default.contentsOfDirectory(atPath: home.path + "/data/files")) ?? []
                #expect(files.count == (found == nil ? 0 : 1), "round \(round): \(files)")
            }
            #expect(acknowledged >= expected && expected >= rounds / 2, "too few acknowledged changes")
        }

        /// As the worker makes it; nil after a deletion.
        private static func content(_ number: Int) -> Data? {
            guard !number.isMultiple(of: 5) else { return nil }
            let line = Array("\(number)\n".utf8)
            let count = 1 + number * 7919 % 40_000
            return Data((0..<count).flatMap { _ in line })
        }
    }
}

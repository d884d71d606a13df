// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Latchkey
import LatchkeyService
import Testing

extension ProcessProofs {
    /// After SIGKILL, a file is there whole: with its old or with its new content, plain or protected.
    @Suite("Crash of file changes")
    struct FileCrashTests {
        @Test("After SIGKILL at random times, a file has the old or the new content", .long)
        func killedAtRandomMoments() throws {
            // `make crash` sets 3000.
            let rounds = ProcessInfo.processInfo.environment["LATCHKEY_CRASH_ROUNDS"].flatMap(Int.init) ?? 60
            let home = try TemporaryDirectory()
            let place = home.path + "/files"
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
            var certain = Data("begin".utf8)
            try certain.write(to: URL(filePath: place + "/file"))
            var (expected, acknowledged, drafts) = (0, 0, 0)
            for round in 1...rounds {
                let worker = try WatchedWorker(["files", place, "\(round)"], home: home.path)
                // Half of the workers are killed while they start, the others after a few changes.
                let wanted = round.isMultiple(of: 2) ? 0 : Int.random(in: 1...4)
                worker.wait(forLines: wanted, startingWith: "did")
                expected += wanted
                usleep(UInt32.random(in: 0..<8_000))
                let log = worker.kill()
                #expect(!log.contains { $0.hasPrefix("failed") }, "\(log.suffix(2))")
                var possible: Data?
                for words in log.map({ $0.split(separator: " ") }) where words.count == 3 && words[1] == "write" {
                    let content = Self.content(try #require(Int(words[2])))
                    if words[0] == "try" { possible = content } else { (certain, possible) = (content, nil) }
                    acknowledged += words[0] == "did" ? 1 : 0
                }
                let found = try Self.read(place + "/file", home: home)
                #expect(found == certain || found == possible, "round \(round): \(found.count) bytes, \(log.suffix(3))")
                certain = found
                let names = try FileManager.default.contentsOfDirectory(atPath: place)
                drafts += names.count - 1
                #expect(names.allSatisfy { $0 == "file" || $0.hasPrefix(".latchkey-draft-") })
            }
            #expect(acknowledged >= expected && expected >= rounds / 2, "too few acknowledged changes")
            // The next command removes the drafts that were left between two steps.
            let result = try Executable.run("latchkey", ["protect", "-r", "--class", "none", place], home: home.path)
            #expect(result.status == 0, "\(result)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: place) == ["file"], "\(drafts) drafts")
        }

        private static func read(_ path: String, home: TemporaryDirectory) throws -> Data {
            let bytes = try Data(contentsOf: URL(filePath: path))
            guard bytes.starts(with: Array("LATCHKEY".utf8)) else { return bytes }
            let keychain = try ReopenedKeychain(home)
            defer { keychain.service.close() }
            return try keychain.contents(ofProtectedFile: path)
        }

        /// As the worker makes it.
        private static func content(_ number: Int) -> Data {
            let line = Array("\(number)\n".utf8)
            let count = 1 + number * 7919 % 40_000
            return Data((0..<count).flatMap { _ in line })
        }
    }
}

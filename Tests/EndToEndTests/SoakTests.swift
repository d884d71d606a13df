// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainModel
import KeychainTesting
import LatchkeyService
import LinuxSystem
import Synchronization
import Testing

extension ProcessProofs {
    /// The daemon with clients of every kind at the same time: clients that change the same items,
    /// clients that are killed while they write, and clients that violate the protocol.
    @Suite("Soak")
    struct SoakTests {
        @Test(
            "With thirty-two clients and faults of every kind the daemon loses nothing, answers correctly, and does not grow",
            .long,
            .long
        )
        func soak() throws {
            // `make soak` sets 600. A slow machine takes longer, until enough calls and faults have
            // happened.
            let seconds = ProcessInfo.processInfo.environment["LATCHKEY_SOAK_SECONDS"].flatMap(Double.init) ?? 20
            let daemon = try DaemonProcess()
            try fillLarge(daemon)
            let end = ContinuousClock.now + .seconds(seconds)
            let limit = end + .seconds(600)
            let churners = try (0..<20).map { number in
                (
                    path: "\(daemon.directory.path)/churn-\(number)",
                    process: try worker(
                        daemon, ["churn", "\(seconds)", "p\(number)", "4000", "\(Self.minimum)"], "churn-\(number)")
                )
            }
            let writers = Writers(daemon)
            let faults = Faults(daemon)
            var memory: [Int] = []
            var isSufficient = false
            while ContinuousClock.now < end || !isSufficient, ContinuousClock.now < limit {
                usleep(500_000)
                try writers.killAndReplace()
                memory.append(daemon.residentKiB)
                if ContinuousClock.now >= end {
                    isSufficient = try memory.count >= 16 && faults.count > Int(seconds) && writers.acknowledged() > 300
                }
            }
            faults.end()
            try writers.end()
            for churner in churners { #expect(churner.process.awaitExit(limit: 600 + seconds) == 0) }
            #expect(daemon.process.isRunning, "\(daemon.logText)")

            try expectFlat(memory)
            #expect(faults.count > Int(seconds), "\(faults.count) faults were injected")
            let verdict = try daemon.client("latchkey", ["log", "verify"])
            #expect(verdict.output.hasPrefix("intact"), "\(verdict)")
            let calls = try churners.flatMap { churner in
                try String(contentsOfFile: churner.path, encoding: .utf8).split(separator: "\n").compactMap { Call($0) }
            }
            #expect(calls.count >= churners.count * Self.minimum, "\(calls.count) calls")
            let unexpected = calls.filter { !$0.isDocumented }
            #expect(unexpected.isEmpty, "\(unexpected.prefix(3))")

            #expect(daemon.stop() == 0)
            #expect(try daemon.client("latchkeyd", ["--user", "--release"]).status == 0)
            let keychain = try ReopenedKeychain(path: daemon.home)
            defer { keychain.service.close() }
            for (item, calls) in Dictionary(grouping: calls, by: \.item) {
                let history = History(calls)
                let stale = calls.filter {
                    $0.operation == "read"
                        && !history.explains($0.status == 0 ? $0.value : nil, from: $0.start, to: $0.end)
                }
                #expect(stale.isEmpty, "\(stale.count) stale reads of \(item): \(stale.prefix(2))")
                #expect(
                    history.explains(try keychain.data(account: item), from: .max, to: .max), "a lost write of \(item)")
            }
            try writers.verify(in: keychain)
        }

        /// The minimum number of calls of each client.
        private static let minimum = 100

        /// Two megabytes of items that one lookup finds, for the clients that do not read their
        /// responses.
        private func fillLarge(_ daemon: DaemonProcess) throws {
            for number in 0..<20 {
                let added = try daemon.client(
                    "latchkey",
                    [
                        "add-generic-password", "-a", "large-\(number)", "-s", "large", "-w",
                        String(repeating: "x", count: 100_000),
                    ])
                #expect(added.status == 0, "\(added)")
            }
        }

        /// Compares the memory of the last quarter with that of the second; the first quarter is
        /// the warm-up.
        private func expectFlat(_ memory: [Int]) throws {
            let quarter = memory.count / 4
            let (early, late) = (memory[quarter..<2 * quarter].sorted(), memory.suffix(quarter).sorted())
            let (before, after) = (early[early.count / 2], late[late.count / 2])
            let series = stride(from: 0, to: memory.count, by: max(1, memory.count / 20)).map { memory[$0] / 1024 }
            print("resident memory of latchkeyd, MiB: \(series.map(String.init).joined(separator: " "))")
            #expect(after - before < 8 * 1024, "from \(before) to \(after) KiB: \(series)")
        }

        // MARK: Clients that are killed

        /// Eight writers; one of them is periodically killed and replaced.
        private final class Writers {
            private let daemon: DaemonProcess
            private var running: [(process: SpawnedProcess, path: String)] = []
            private var logs: [String] = []
            private var count = 0

            init(_ daemon: DaemonProcess) { self.daemon = daemon }

            func killAndReplace() throws {
                if running.count == 8 {
                    let victim = running.remove(at: Int.random(in: 0..<8))
                    // Some writers are stopped for some time in the middle of an operation.
                    if Bool.random() {
                        kill(victim.process.processIdentifier, SIGSTOP)
                        usleep(100_000)
                    }
                    victim.process.stop(signal: SIGKILL)
                }
                while running.count < 8 {
                    count += 1
                    let path = "\(daemon.directory.path)/writer-\(count)"
                    logs.append(path)
                    running.append((try worker(daemon, ["write", "w\(count)"], "writer-\(count)"), path))
                }
            }

            func end() throws {
                for writer in running { writer.process.stop(signal: SIGKILL) }
            }

            /// The number of writes that were acknowledged so far.
            func acknowledged() throws -> Int {
                try logs.reduce(0) { count, log in
                    try count
                        + String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").count {
                            $0.hasPrefix("did")
                        }
                }
            }

            /// Checks that each item has the last acknowledged value, or the one that was requested
            /// after it.
            func verify(in keychain: ReopenedKeychain) throws {
                var acknowledged = 0
                for log in logs {
                    var (certain, possible): ([String: String], [String: String]) = ([:], [:])
                    let lines = try String(contentsOfFile: log, encoding: .utf8).split(
                        separator: "\n", omittingEmptySubsequences: false
                    )
                    .dropLast()
                    for line in lines {
                        let words = line.split(separator: " ").map(String.init)
                        let value = "\(words[2]):\(words[1] == "add" ? 0 : 1)"
                        if words[0] == "did" { certain[words[2]] = value } else { possible[words[2]] = value }
                    }
                    for (account, value) in certain {
                        let found = try keychain.data(account: account)
                        #expect(
                            found == value || found == possible[account],
                            "\(account): \(found ?? "nothing"), acknowledged \(value)")
                    }
                    acknowledged += certain.count
                }
                #expect(acknowledged > 100, "the writers wrote \(acknowledged) items")
            }
        }

        // MARK: Clients that misbehave

        /// Threads that violate the daemon's protocol.
        private final class Faults: Sendable {
            private let hasEnded = Atomic(false)
            private let injected = Atomic(0)
            private let running = Atomic(0)
            private let socket: String

            var count: Int { injected.load(ordering: .relaxed) }

            init(_ daemon: DaemonProcess) {
                socket = daemon.socket
                for fault in [randomBytes, announcements, silence, floods] {
                    running.add(1, ordering: .relaxed)
                    BackgroundThread.run { [self] in
                        while !hasEnded.load(ordering: .relaxed) {
                            fault()
                            injected.add(1, ordering: .relaxed)
                        }
                        running.subtract(1, ordering: .relaxed)
                    }
                }
            }

            func end() {
                hasEnded.store(true, ordering: .relaxed)
                #expect(eventually { running.load(ordering: .relaxed) == 0 })
            }

            private func send(_ bytes: [UInt8], over connection: Socket) {
                bytes.withUnsafeBytes { _ = try? connection.send($0) }
            }

            private func randomBytes() {
                guard let connection = try? Socket(connectingTo: socket) else { return }
                send(RandomBytes.array(count: Int.random(in: 1..<5000)), over: connection)
                usleep(20_000)
            }

            /// Sends a frame header with a length of four gigabytes; a hello of version 999; a frame with secrets that
            /// never arrive.
            private func announcements() {
                for bytes in [
                    [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0], [0, 0, 0, 5, 0, 0, 0, 0, 0x52, 3, 0x08, 0xE7, 0x07],
                    [0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 100, 8, 1],
                ] as [[UInt8]] {
                    guard let connection = try? Socket(connectingTo: socket) else { continue }
                    send(bytes, over: connection)
                    usleep(20_000)
                }
            }

            /// Sends a hello and a lookup of all items on connections, and never reads the responses.
            private func silence() {
                let kept = (0..<4).compactMap { _ in try? Socket(connectingTo: socket) }
                for connection in kept {
                    send([0, 0, 0, 4, 0, 0, 0, 0, 0x52, 2, 0x08, 1], over: connection)
                    // copy_matching { query { item_class: 1,
                    //     attributes { code: "svce", text: "large" }, all {} }, returning: 3 }
                    let attribute: [UInt8] = [0x12, 12, 0x0D, 0x65, 0x63, 0x76, 0x73, 0x12, 5] + Array("large".utf8)
                    let query: [UInt8] = [0x08, 1] + attribute + [0x3A, 0]
                    let copy: [UInt8] = [0x0A, UInt8(query.count)] + query + [0x10, 3]
                    let question: [UInt8] = [0x08, 1, 0xAA, 0x01, UInt8(copy.count)] + copy
                    send([0, 0, 0, UInt8(question.count), 0, 0, 0, 0] + question, over: connection)
                }
                usleep(300_000)
            }

            private func floods() {
                let kept = (0..<300).compactMap { _ in try? Socket(connectingTo: socket) }
                usleep(100_000)
                _ = kept
            }
        }
    }
}

/// A proof worker as a client of the daemon; its output goes to a file in the daemon's directory.
private func worker(_ daemon: DaemonProcess, _ words: [String], _ output: String) throws -> SpawnedProcess {
    try SpawnedProcess(
        [Executable.path("ProofWorker")] + words,
        environment: ["LATCHKEY_HOME": daemon.home, "XDG_RUNTIME_DIR": daemon.runtime, "SWIFT_BACKTRACE": "enable=no"],
        output: "\(daemon.directory.path)/\(output)")
}

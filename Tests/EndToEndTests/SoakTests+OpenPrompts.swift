// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Testing

extension ProcessProofs.SoakTests {
    @Test(
        "While twenty commands wait for the person, other clients read and write as before; a cancellation ends all twenty",
        .long,
        .long,
        .enabled(if: access("/usr/bin/pinentry-curses", X_OK) == 0, "pinentry-curses is not installed"))
    func openPrompts() throws {
        // `make soak` sets 600. A slow machine takes longer, because each client makes a minimum of
        // calls.
        let total = ProcessInfo.processInfo.environment["LATCHKEY_SOAK_SECONDS"].flatMap(Double.init) ?? 6
        let prompts = try OpenPrompts(maxSeconds: Int(total) + 1800)
        let start = prompts.load
        // The first clients also fill the daemon's caches and heaps.
        _ = try prompts.churn(seconds: total / 12, "warm")
        let before = try prompts.churn(seconds: total / 4, "before")
        try prompts.waitUntilIdle(start)
        let idle = prompts.load

        try prompts.open()
        let open = prompts.load
        #expect(prompts.daemon.process.isRunning && prompts.pinentryCount == 1)
        let during = try prompts.churn(seconds: total / 2, "during")
        #expect(prompts.runningCount == OpenPrompts.count, "a prompt ended while other clients were working")
        #expect(prompts.pinentryCount == 1)

        prompts.cancel()
        #expect(prompts.endings() == Array(repeating: 128, count: OpenPrompts.count))
        #expect(eventually { prompts.pinentryCount == 0 } && prompts.terminal.echoes)
        try prompts.waitUntilIdle(start)
        let after = try prompts.churn(seconds: total / 4, "after")
        try prompts.waitUntilIdle(start)
        let end = prompts.load

        let ratio = during.median / max(before.median, after.median)
        print(
            """
            reads without open prompts, with twenty, and without again: medians \(before), \(during), \(after) µs; \
            ratio \(ratio); latchkeyd before, during and after the prompts: \(idle), \(open), \(end)
            """)
        // Other tests use the same processors; a reader that waits for a prompt is slower by far.
        #expect(ratio < 3)
        // The heaps of a thread stay with the process for the next threads.
        #expect(end.residentKiB - idle.residentKiB < 8 * 1024, "from \(idle) to \(end)")
        if let first = idle.descriptors, let last = end.descriptors {
            // More threads at once may have opened more connections of the database, and these stay open.
            #expect(last - first < OpenPrompts.count / 2, "from \(idle) to \(end)")
        } else {
            reportSkipped("the number of latchkeyd's descriptors: only root may know it")
        }
        #expect(prompts.daemon.stop() == 0)
    }
}

/// A latchkeyd with twenty items that need the person, and commands that read them on one terminal.
private final class OpenPrompts {
    static let count = 20

    /// The resources that the daemon uses.
    struct Load: CustomStringConvertible {
        let residentKiB: Int
        let threads: Int
        /// nil if this user may not know it.
        let descriptors: Int?

        var description: String {
            "\(residentKiB) KiB, \(threads) threads, \(descriptors.map(String.init) ?? "?") descriptors"
        }
    }

    let daemon: DaemonProcess
    let terminal: PseudoTerminal
    private var commands: [CommandOnTerminal] = []

    /// - Parameter maxSeconds: how long the prompts may be open.
    init(maxSeconds: Int) throws {
        daemon = try DaemonProcess(["--user", "--prompt-timeout", "\(min(maxSeconds, 3600))"])
        terminal = try PseudoTerminal()
        let passcode = "\(daemon.directory.path)/passcode"
        _ = FileManager.default.createFile(
            atPath: passcode, contents: Data("the passcode".utf8), attributes: [.posixPermissions: 0o600])
        try #require(try daemon.client("latchkey", ["passcode", "set", "--passcode-file", passcode]).status == 0)
        for number in 0..<Self.count {
            let added = try daemon.client(
                "latchkey",
                [
                    "add-generic-password", "-a", "\(number)", "-s", "held", "-w", "x", "--access-control",
                    "userPresence",
                ])
            try #require(added.status == 0, "\(added.error)")
        }
    }

    // MARK: The commands that wait

    /// Starts the commands, and waits until the daemon has a question of each.
    func open() throws {
        let before = threads
        for number in 0..<Self.count {
            let words = ["find-generic-password", "-a", "\(number)", "-s", "held", "-w"]
            commands.append(try CommandOnTerminal(words, on: terminal, clientOf: daemon))
        }
        #expect(terminal.waitForPrompt("Passcode of the keychain:"))
        // Each has a thread for its connection, and one that looks whether it still waits. A thread of an earlier
        // client that has not ended yet is none of them.
        let areOpen = eventually {
            _ = terminal.screen
            return threads.subtracting(before).count >= 2 * Self.count
        }
        try #require(areOpen, "\(load), \(runningCount) commands")
    }

    /// Cancels the displayed prompt.
    func cancel() { terminal.type("\t\t\r") }

    var runningCount: Int { commands.count(where: \.isRunning) }

    /// Waits for the ends of the commands; returns their exit values.
    func endings() -> [Int32] { commands.map { $0.wait() } }

    // MARK: The daemon

    var load: Load {
        let process = daemon.process.processIdentifier
        return Load(
            residentKiB: ProcessTable.residentKiB(of: process), threads: ProcessTable.threadCount(of: process),
            descriptors: ProcessTable.descriptorCount(of: process))
    }

    private var threads: Set<pid_t> { ProcessTable.threads(of: daemon.process.processIdentifier) }

    var pinentryCount: Int { ProcessTable.children(of: daemon.process.processIdentifier).count }

    /// Waits until the daemon has no more threads than at the start: its clients have gone.
    func waitUntilIdle(_ start: Load) throws {
        let isIdle = eventually { load.threads <= start.threads }
        try #require(isIdle, "\(load), at the start \(start)")
    }

    // MARK: The clients that work

    /// The times of the reads of one phase, in microseconds.
    struct Reads: CustomStringConvertible {
        let times: [Double]
        var median: Double { times[times.count / 2] }
        var description: String { "\(Int(median)) (\(times.count) reads)" }
    }

    /// Lets four processes read and write the same items.
    func churn(seconds: Double, _ name: String) throws -> Reads {
        let churners = try (0..<4).map { number in
            try SpawnedProcess(
                [Executable.path("ProofWorker"), "churn", "\(seconds)", "\(name)\(number)", "2000", "100"],
                environment: [
                    "LATCHKEY_HOME": daemon.home, "XDG_RUNTIME_DIR": daemon.runtime, "SWIFT_BACKTRACE": "enable=no",
                ], output: "\(daemon.directory.path)/\(name)-\(number)")
        }
        _ = eventually(limit: 600 + seconds) {
            // A full screen would block the program that draws on it.
            _ = terminal.screen
            return !churners.contains(where: \.isRunning)
        }
        for churner in churners { #expect(churner.awaitExit(limit: 600 + seconds) == 0) }
        let calls = try churners.indices.flatMap { number in
            try String(contentsOfFile: "\(daemon.directory.path)/\(name)-\(number)", encoding: .utf8)
                .split(separator: "\n").compactMap { Call($0) }
        }
        let unexpected = calls.filter { !$0.isDocumented }
        #expect(unexpected.isEmpty, "\(unexpected.prefix(3))")
        let times = calls.filter { $0.operation == "read" }.map { Double($0.end - $0.start) / 1000 }.sorted()
        try #require(!times.isEmpty)
        return Reads(times: times)
    }
}

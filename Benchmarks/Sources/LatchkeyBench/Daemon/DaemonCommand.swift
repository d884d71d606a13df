// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Glibc

/// Measures Latchkey through latchkeyd, and compares it with the same calls embedded and with a
/// plain exchange over a socket.
struct DaemonCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "daemon", abstract: "Measure the same calls through latchkeyd.",
        discussion: "Exits with 0 even if an aim is missed, and with 1 if an operation fails.")

    @Option(help: ArgumentHelp("The executable `latchkeyd`.", valueName: "path"))
    var latchkeyd: String

    @Option(help: "The number of items in the keychains.")
    var items = 1_000

    @Option(help: "The number of lookups between the two measurements of the daemon's memory.")
    var manyCalls = 1_000_000

    @Option(help: ArgumentHelp("The directory for temporary databases; on a real disk, not tmpfs.", valueName: "dir"))
    var directory: String?

    func run() throws {
        let temporary = try TemporaryDirectory(in: directory ?? NSTemporaryDirectory())
        defer { temporary.remove() }
        let report = try DaemonBenchmark(
            latchkeyd: latchkeyd, items: items, manyCalls: manyCalls, directory: temporary.path
        ).run()
        print(report)
    }
}

/// One run: a daemon, and clients in separate processes, one kind after the other in each round.
struct DaemonBenchmark {
    let latchkeyd: String
    let items: Int
    let manyCalls: Int
    let directory: String

    private var home: String { "\(directory)/home" }
    private var runtime: String { "\(directory)/run" }
    private var socket: String { "\(runtime)/latchkey/socket" }
    private func environment(_ runtime: String, home: String) -> [String: String] {
        ["LATCHKEY_HOME": home, "XDG_RUNTIME_DIR": runtime, "PATH": "/usr/bin:/bin"]
    }

    func run() throws -> String {
        for path in [runtime, "\(directory)/meter", "\(directory)/none"] {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        // The embedded keychain is filled first, and the daemon serves a copy of it.
        try fill()
        let starts = try (0..<15).map { _ in try startToAnswer() }.sorted()
        let daemon = try start()
        try waitForAnswer()
        let idle = daemon.residentKiB
        let empty = try emptyProgram()
        ProgressLine.say("sizes of the messages")
        let sizes = try messageSizes()
        let echo = try echoServer(sizes, at: "echo")
        defer { withExtendedLifetime(echo) {} }

        var lines = [
            "latchkey-bench daemon: \(Text.grouped(items)) items; a lookup sends \(sizes.request) bytes and receives \(sizes.response)",
            "",
        ]
        lines.append(
            "Medians in µs: socket echo, embedded, through latchkeyd; (through latchkeyd - echo) / embedded"
        )
        var lookupCost = 0.0
        var lookup = 0.0
        for call in [KeychainCall.exactLookup, .attributes, .add] {
            let rows = try contest(call, sizes)
            let cost = (rows.daemon - rows.echo) / rows.embedded
            if call == .exactLookup { (lookupCost, lookup) = (cost, rows.embedded) }
            let figures = [rows.echo, rows.embedded, rows.daemon].map(Text.microseconds).joined(separator: " / ")
            lines.append("  \(call.title): \(figures), \(Text.ratio(cost))")
        }
        let busy = try echoServer(sizes, at: "busy", work: Int(lookup))
        let exchange = try (0..<5).map { _ in try echoClient(sizes, threads: 1, calls: 2_000, at: "busy").time.median }
            .sorted()[2]
        withExtendedLifetime(busy) {}
        lines.append(
            "  an exchange whose server is busy for the time of one embedded lookup: \(Text.microseconds(exchange)) µs, "
                + "of which the exchange takes \(Text.microseconds(exchange - lookup))")
        lines += ["", "Lookups per second with 1, 8 and 64 clients of one process: echo, through latchkeyd"]
        var rates: [Int: Double] = [:]
        for clients in [1, 8, 64] {
            var (best, bestEcho) = (0.0, 0.0)
            for _ in 0..<3 {
                bestEcho = max(bestEcho, try echoClient(sizes, threads: clients, calls: 12_000 / clients).rate)
                best = max(
                    best, try client(.exactLookup, throughDaemon: true, threads: clients, calls: 12_000 / clients).rate)
            }
            rates[clients] = best
            lines.append("  \(clients): \(Int(bestEcho)), \(Int(best))")
        }
        ProgressLine.say("\(Text.grouped(manyCalls)) lookups")
        _ = try client(.exactLookup, throughDaemon: true, threads: 8, calls: 5_000)
        let before = daemon.residentKiB
        _ = try client(.exactLookup, throughDaemon: true, threads: 8, calls: manyCalls / 8)
        sleep(3)
        let after = daemon.residentKiB
        let start = starts[starts.count / 2]
        lines += [
            "",
            "Memory in MiB: an empty Swift program with Foundation \(mebibytes(empty)), latchkeyd idle \(mebibytes(idle)), "
                + "after 40,000 lookups \(mebibytes(before)), after \(Text.grouped(manyCalls)) more \(mebibytes(after))",
            "Start to the first response, median of \(starts.count): \(Text.milliseconds(Double(start))) ms", "",
            "Aims",
            verdict(
                "a lookup costs at most one echo and 1.5 embedded lookups", lookupCost, 1.5, Text.ratio(lookupCost)),
            verdict(
                "64 clients get at least 1.5 times the throughput of one", 1.5, (rates[64] ?? 0) / (rates[1] ?? 1),
                Text.ratio((rates[64] ?? 0) / (rates[1] ?? 1))),
            verdict(
                "idle at most 25 MiB above an empty Swift program", Double(idle - empty) / 1024, 25,
                "\(mebibytes(idle - empty)) MiB"),
            verdict(
                "memory unchanged after \(Text.grouped(manyCalls)) calls, within 2 MiB", Double(after - before) / 1024,
                2,
                "\(mebibytes(after - before)) MiB"),
            verdict(
                "start to the first response at most 50 ms", Double(start) / 1e6, 50,
                "\(Text.milliseconds(Double(start))) ms"),
        ]
        return lines.joined(separator: "\n")
    }

    private func verdict(_ aim: String, _ value: Double, _ limit: Double, _ words: String) -> String {
        "  \(value <= limit ? "met   " : "MISSED")  \(aim): \(words)"
    }

    private func mebibytes(_ kibibytes: Int) -> String { String(format: "%.1f", Double(kibibytes) / 1024) }

    // MARK: Contenders

    private func contest(_ call: KeychainCall, _ sizes: (request: Int, response: Int)) throws -> (
        echo: Double, embedded: Double, daemon: Double
    ) {
        ProgressLine.say("\(call.title): alternately")
        var (echo, embedded, daemon): ([Double], [Double], [Double]) = ([], [], [])
        let calls = call == .add ? 300 : 2_000
        for _ in 0..<7 {
            echo.append(try echoClient(sizes, threads: 1, calls: 2_000).time.median)
            embedded.append(try client(call, throughDaemon: false, threads: 1, calls: calls).time.median)
            daemon.append(try client(call, throughDaemon: true, threads: 1, calls: calls).time.median)
        }
        return (echo.sorted()[3], embedded.sorted()[3], daemon.sorted()[3])
    }

    private func client(
        _ call: KeychainCall, throughDaemon: Bool, threads: Int, calls: Int, runtime: String? = nil
    ) throws -> ClientCommand.Outcome {
        // Embedded: a runtime directory without a daemon, and the copy of the keychain without a
        // daemon's marker file.
        let place = runtime ?? (throughDaemon ? self.runtime : "\(directory)/none")
        let words = [
            ClientCommand.name, "--call", call.rawValue, "--items", "\(items)", "--threads", "\(threads)", "--calls",
            "\(calls)",
        ]
        return try outcome(words, environment(place, home: throughDaemon ? home : "\(directory)/embedded"))
    }

    private func echoServer(_ sizes: (request: Int, response: Int), at name: String, work: Int = 0) throws
        -> MeasuredProcess
    {
        let words = [
            "--socket", "\(directory)/\(name)", "--request", "\(sizes.request)", "--response", "\(sizes.response)",
            "--work", "\(work)",
        ]
        let server = try MeasuredProcess(
            try WholeProcess.ownPath(), [EchoCommand.name, "--serve"] + words,
            environment: environment(runtime, home: home))
        while access("\(directory)/\(name)", F_OK) != 0 { usleep(1000) }
        return server
    }

    private func echoClient(
        _ sizes: (request: Int, response: Int), threads: Int, calls: Int, at name: String = "echo"
    ) throws -> ClientCommand.Outcome {
        let words = [
            EchoCommand.name, "--socket", "\(directory)/\(name)", "--request", "\(sizes.request)", "--response",
            "\(sizes.response)",
            "--threads",
            "\(threads)", "--calls", "\(calls)",
        ]
        return try outcome(words, environment(runtime, home: home))
    }

    private func outcome(_ words: [String], _ environment: [String: String]) throws -> ClientCommand.Outcome {
        let ran = try ChildProcess.run(
            try WholeProcess.ownPath(), ["latchkey-bench"] + words,
            environment: environment.map { "\($0.key)=\($0.value)" })
        guard ran.exitValue == 0 else {
            throw BenchmarkFailure("\(words.joined(separator: " ")): exited with \(ran.exitValue)")
        }
        return try JSONDecoder().decode(ClientCommand.Outcome.self, from: Data(ran.output.utf8))
    }

    // MARK: The daemon

    private func fill() throws {
        ProgressLine.say("filling")
        let words = ["latchkey-bench", FillCommand.name, "--items", "\(items)"]
        for home in [home, "\(directory)/embedded"] {
            let ran = try ChildProcess.run(
                try WholeProcess.ownPath(), words,
                environment: environment("\(directory)/none", home: home).map { "\($0.key)=\($0.value)" })
            guard ran.exitValue == 0 else { throw BenchmarkFailure("filling: exited with \(ran.exitValue)") }
        }
    }

    private func start() throws -> MeasuredProcess {
        try MeasuredProcess(
            latchkeyd, ["--user", "--log-level", "error"], environment: environment(runtime, home: home))
    }

    private func waitForAnswer() throws {
        while (try? LocalSocket.connect(socket)).map({ close($0) }) == nil { usleep(200) }
        _ = try client(.exactLookup, throughDaemon: true, threads: 1, calls: 1)
    }

    /// Measures the time from the start of the daemon until a waiting client has its first
    /// response.
    private func startToAnswer() throws -> UInt64 {
        ProgressLine.say("start to the first response")
        let begin = Stopwatch.now()
        let daemon = try start()
        // The hello and a status request are written by hand, so that the start of a client is not
        // measured.
        while true {
            if let connection = try? LocalSocket.connect(socket) {
                defer { close(connection) }
                // Frame of 5 bytes: hello { version: 1 }.
                var hello: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0x52, 2, 0x08, 1]
                var welcome = [UInt8](repeating: 0, count: 8)
                // Frame: request 1, lock_status.
                var question: [UInt8] = [0, 0, 0, 5, 0, 0, 0, 0, 0x08, 1, 0xC2, 2, 0]
                guard LocalSocket.send(connection, &hello), LocalSocket.receive(connection, &welcome) else { continue }
                var rest = [UInt8](repeating: 0, count: Int(welcome[2]) << 8 | Int(welcome[3]))
                guard LocalSocket.receive(connection, &rest), LocalSocket.send(connection, &question),
                    LocalSocket.receive(connection, &welcome)
                else { continue }
                break
            }
            usleep(100)
        }
        let time = Stopwatch.now() - begin
        withExtendedLifetime(daemon) {}
        return time
    }

    private func emptyProgram() throws -> Int {
        let path = ((try WholeProcess.ownPath()) as NSString).deletingLastPathComponent + "/print-only"
        let empty = try MeasuredProcess(path, ["stay"], environment: [:])
        usleep(300_000)
        return empty.residentKiB
    }

    private func messageSizes() throws -> (request: Int, response: Int) {
        try FileManager.default.createDirectory(
            atPath: "\(directory)/meter/latchkey", withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let meter = try WireMeter(at: "\(directory)/meter/latchkey/socket", to: socket)
        _ = try client(.exactLookup, throughDaemon: true, threads: 1, calls: 5, runtime: "\(directory)/meter")
        return meter.sizes
    }
}

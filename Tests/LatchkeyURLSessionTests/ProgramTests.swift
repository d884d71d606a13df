// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyURLSession
import Testing

/// A program with its own `Info.plist`, and processes that share a keychain.
@Suite("URLSession: programs")
struct ProgramTests {
    private let lab: Lab

    init() throws { lab = try Lab.shared() }

    private struct Outcome {
        let status: Int32
        let lines: [String]
    }

    /// Runs a program until it ends.
    private func run(_ words: [String], environment: [String: String] = [:]) async throws -> Outcome {
        let log = lab.authority.openssl.path("output-\(UUID().uuidString)")
        let usual = ["PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no"]
        let process = try SpawnedProcess(words, environment: usual.merging(environment) { $1 }, output: log)
        _ = await eventuallyInTask { !process.isRunning }
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return Outcome(status: process.awaitExit(), lines: text.split(separator: "\n").map(String.init))
    }

    private func plist(_ security: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict><key>NSAppTransportSecurity</key><dict>
        \(security)</dict></dict></plist>
        """
    }

    private func pins(_ pin: Pin) -> String {
        plist(
            """
            <key>NSPinnedDomains</key><dict><key>localhost</key><dict><key>NSPinnedLeafIdentities</key><array><dict>
            <key>SPKI-SHA256-BASE64</key><string>\(pin.base64)</string></dict></array></dict></dict>
            """)
    }

    @Test("The configuration .latchkey obeys the Info.plist beside the program, and a broken one refuses everything")
    func settings() async throws {
        let plain = try await WebServer(nil) { _ in .text("plain") }
        let secure = try await WebServer(lab) { _ in .text("secure") }
        let directory = try TemporaryDirectory()
        let program = "\(directory.path)/program"
        try FileManager.default.copyItem(atPath: Executable.path("TransportWorker"), toPath: program)
        let anchor = try lab.authority.openssl.file(lab.authority.root.der)
        let urls = [plain.url().absoluteString, secure.url().absoluteString]
        func lines(_ plist: String?) async throws -> [String] {
            let path = "\(directory.path)/Info.plist"
            try? FileManager.default.removeItem(atPath: path)
            if let plist { try Data(plist.utf8).write(to: URL(filePath: path)) }
            let outcome = try await run(
                [program, "load", anchor] + urls, environment: ["LATCHKEY_HOME": "\(directory.path)/home"])
            #expect(outcome.status == 0)
            // Foundation writes about a broken list too.
            return outcome.lines.filter { $0.hasPrefix("result: ") }.map { String($0.dropFirst(8)) }
        }
        func codes(_ plist: String?) async throws -> [String] {
            try await lines(plist).map { String($0.prefix { $0 != " " }) }
        }
        #expect(try await codes(nil) == ["-1022", "200"])
        let local = plist("<key>NSAllowsLocalNetworking</key><true/>")
        #expect(try await codes(local) == ["200", "200"])
        #expect(try await codes(pins(lab.server.pin())) == ["-1022", "200"])
        #expect(try await codes(pins(lab.authority.root.pin())) == ["-1022", "-1202"])
        for broken in ["<plist", "", #"<plist version="1.0"><array/></plist>"#] {
            let requests = plain.requests.count + secure.requests.count
            let refused = try await lines(broken)
            #expect(refused.count == 2)
            for line in refused {
                #expect(line.hasPrefix("-1200 ") && line.contains("Info.plist"), "\(broken): \(line)")
            }
            #expect(plain.requests.count + secure.requests.count == requests)
        }
    }

    @Test("What makes connections less secure is logged, once a process")
    func warnings() async throws {
        let plain = try await WebServer(nil) { _ in .text("plain") }
        let secure = try await WebServer(lab) { _ in .text("secure") }
        let other = try await WebServer(lab) { _ in .text("secure") }
        let directory = try TemporaryDirectory()
        let program = "\(directory.path)/program"
        try FileManager.default.copyItem(atPath: Executable.path("TransportWorker"), toPath: program)
        let anchor = try lab.authority.openssl.file(lab.authority.root.der)
        let urls = [plain, plain, secure, other].map { $0.url().absoluteString }
        func warnings(_ command: String) async throws -> [String] {
            let outcome = try await run(
                [program, command, anchor] + urls, environment: ["LATCHKEY_HOME": "\(directory.path)/home"])
            let results = outcome.lines.filter { $0.hasPrefix("result: ") }
            let expected = FileManager.default.fileExists(atPath: "\(directory.path)/Info.plist") ? "200" : "-1022"
            #expect(results.map { String($0.dropFirst(8).prefix { $0 != " " }) } == [expected, expected, "200", "200"])
            return outcome.lines.compactMap { line in
                line.firstRange(of: " warning latchkey").map { String(line[$0.upperBound...]) }
            }
        }
        let foundation =
            "Data.init(contentsOf:options:) reads protected files only in a program with LatchkeyRedirections"
        let unevaluated = "a delegate answers .useCredential for a server without an evaluation"
        let nameless = "the trust of a server is evaluated without its name"
        for (command, expected) in [("load", unevaluated), ("load-by-chain", nameless)] {
            let lines = try await warnings(command)
            #expect(lines.count == 2 && lines[0].contains(foundation) && lines[1].contains(expected), "\(lines)")
        }
        try Data(plist("<key>NSAllowsArbitraryLoads</key><true/>").utf8).write(
            to: URL(filePath: "\(directory.path)/Info.plist"))
        let lines = try await warnings("load")
        #expect(lines.count == 3 && lines[1].contains("NSAllowsArbitraryLoads in Info.plist permits"), "\(lines)")
    }

    @Test("The content of a protected file is uploaded, and nothing without its keychain")
    func protectedBody() async throws {
        let server = try await WebServer(nil) { _ in .text("taken") }
        let directory = try TemporaryDirectory()
        let (program, file) = ("\(directory.path)/program", "\(directory.path)/notes")
        try FileManager.default.copyItem(atPath: Executable.path("TransportWorker"), toPath: program)
        try Data(plist("<key>NSAllowsLocalNetworking</key><true/>").utf8).write(
            to: URL(filePath: "\(directory.path)/Info.plist"))
        try Data("my notes".utf8).write(to: URL(filePath: file))
        let environment = ["LATCHKEY_HOME": "\(directory.path)/home", "LATCHKEY_NO_DAEMON": "1"]
        let made = try await run(
            [Executable.path("latchkey"), "protect", "--class", "complete", file], environment: environment)
        #expect(
            try made.status == 0 && Data(contentsOf: URL(filePath: file)).firstRange(of: Data("my notes".utf8)) == nil)
        let words = [program, "upload", file, server.url().absoluteString]
        #expect(try await run(words, environment: environment).lines == ["result: 200"])
        #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["my notes"])
        let other = ["LATCHKEY_HOME": "\(directory.path)/other", "LATCHKEY_NO_DAEMON": "1"]
        #expect(try await run(words, environment: other).lines == ["result: -1100"])
        #expect(server.requests.count == 1)
    }

    @Test("A permanent credential of one process is an internet password for the command in another")
    func permanent() async throws {
        let directory = try TemporaryDirectory()
        let environment = ["LATCHKEY_HOME": "\(directory.path)/home", "XDG_RUNTIME_DIR": directory.path]
        let stored = try await run(
            [Executable.path("TransportWorker"), "store", "api.example.com", "me", "a password"],
            environment: environment)
        #expect(stored.status == 0, "\(stored.lines)")
        let found = try await run(
            [
                Executable.path("latchkey"), "find-internet-password", "-s", "api.example.com", "-a", "me", "-d",
                "the realm", "-r", "htps", "-w",
            ], environment: environment)
        #expect(found.status == 0 && found.lines == ["a password"], "\(found.lines)")
        let missing = try await run(
            [Executable.path("latchkey"), "find-internet-password", "-s", "other.example.com", "-w"],
            environment: environment)
        #expect(missing.status == 44)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import LinuxSystem
import Testing

/// Runs the console lines of README and of the guides in order, with a separate home for each section.
@Suite("README and guides")
struct ReadmeTests {
    /// A line after `$`, and the output that the page shows below it.
    struct Line: Sendable {
        /// A heading of README, or the title of a guide.
        let section: String
        let command: String
        let output: [String]
    }

    @Test("Every console line of README and of the guides prints its output", arguments: try sections())
    func documentedCommands(_ section: String) throws {
        let home = try Home(section)
        for line in try Self.lines() where line.section == section {
            switch line.command {
            case "latchkey daemon --user &":
                // A command in the background runs as a child of the test, and the test waits until it listens.
                try home.startDaemon()
                continue
            case "latchkey daemon --user --release": #expect(home.stopDaemon() == 0)
            default: break
            }
            let typed = Self.instead[line.command]?.line ?? line.command
            let outcome = try home.run(typed)
            #expect(outcome.status == Self.refused[line.command] ?? 0, "\(typed): \(outcome)")
            guard !line.output.isEmpty else { continue }
            let shown = outcome.output.split(separator: "\n").map(String.init)
            #expect(shown.count == line.output.count, "\(typed): \(outcome)")
            for (expected, found) in zip(line.output, shown) {
                #expect(Self.matches(found, expected), "\(typed): \(found)")
            }
        }
    }

    @Test("Every other block of commands is one that `make first-minutes` runs")
    func blocks() throws {
        let ways = try Self.pages().flatMap { page in
            page.matches(of: /\n(.*)\n```sh\n/).map { String($0.1) }
        }
        #expect(ways.count == 6)
        for way in ways { #expect(way.hasPrefix("<!-- way: "), "not run: the block after \(way)") }
    }

    @Test("Every line that is replaced or expected to fail is on a page, and each replacement has a reason")
    func lists() throws {
        let commands = Set(try Self.lines().map(\.command))
        #expect(commands.count >= 25)
        #expect(Set(Self.instead.keys).subtracting(commands) == [])
        #expect(Set(Self.refused.keys).subtracting(commands) == [])
        #expect(Self.instead.values.allSatisfy { !$0.reason.isEmpty })
    }

    // MARK: Replaced and failing lines

    private static let asks = "it prompts on the terminal, which TerminalTests cover"

    /// Lines that a test cannot run unchanged: the replacement, and the reason.
    private static let instead: [String: (line: String, reason: String)] = [
        "latchkey passcode set": ("latchkey passcode set --passcode-file ~/.passcode", asks),
        "latchkey recovery-key create": ("latchkey recovery-key create --passcode-file ~/.passcode", asks),
        "latchkey backup /media/stick/keychain.latchkey": (
            "latchkey backup ~/stick/keychain.latchkey --passcode-file ~/.passcode < ~/.pass",
            "the stick does not exist, and " + asks
        ),
        "latchkey restore --dry-run /media/stick/keychain.latchkey": (
            "latchkey restore --dry-run ~/stick/keychain.latchkey --passcode-file ~/.passcode < ~/.pass",
            "the stick does not exist, and " + asks
        ),
        "latchkey unlock": ("latchkey unlock --passcode-file ~/.passcode", asks),
        "latchkey with-passcode -- ./deploy.sh": (
            "latchkey with-passcode --passcode-file ~/.passcode -- ./deploy.sh", asks
        ),
    ]

    /// Lines with an exit status other than 0.
    private static let refused: [String: Int32] = [
        // Nothing is found.
        "grep -r s3cret ~/.local/share/latchkey": 1,
        // Something is found.
        "latchkey lint app": 1, "latchkey lint app/Store.swift": 1,
        "latchkey lint --against-keychain app/old.txt": 1,
        // errSecHostNameMismatch: the certificate is for another host.
        "latchkey trust explain --host example.org server.pem chain.pem": 238,
    ]

    // MARK: README

    private static func sections() throws -> [String] {
        try lines().map(\.section).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    private static func lines() throws -> [Line] {
        var lines: [Line] = []
        for page in try pages() {
            var (section, isConsole) = ("", false)
            // README has a home for each section, a guide one for the whole page.
            let heading = page.hasPrefix("# Latchkey\n") ? "## " : "# "
            for text in page.split(separator: "\n") {
                if !isConsole, text.hasPrefix(heading) { section = String(text.dropFirst(heading.count)) }
                if text.hasPrefix("```") {
                    isConsole = text == "```console"
                } else if isConsole, text.hasPrefix("$ ") {
                    let command = text.dropFirst(2).prefix(upToFirst: "  #").trimmingCharacters(in: .whitespaces)
                    lines.append(Line(section: section, command: command, output: []))
                } else if isConsole, let last = lines.popLast() {
                    let output = last.output + [String(text)]
                    lines.append(Line(section: last.section, command: last.command, output: output))
                }
            }
        }
        return lines
    }

    /// README, and the pages of Documentation/Guides.
    private static func pages() throws -> [String] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        let guides = root.appending(path: "Documentation/Guides")
        let names = try FileManager.default.contentsOfDirectory(atPath: guides.path).sorted()
        return try ([root.appending(path: "README.md")] + names.map { guides.appending(path: $0) }).map {
            try String(contentsOf: $0, encoding: .utf8)
        }
    }

    /// Whether a line matches the one on the page, in which `…` stands for any text.
    private static func matches(_ found: String, _ expected: String) -> Bool {
        let parts = expected.components(separatedBy: "…").map { NSRegularExpression.escapedPattern(for: $0) }
        return found.range(of: "^" + parts.joined(separator: ".*") + "$", options: .regularExpression) != nil
    }
}

/// A home for the lines of one section.
private final class Home {
    private let directory: TemporaryDirectory
    private var daemon: SpawnedProcess?
    private var bus: SessionBus?
    /// The secrets of a workflow.
    private var secrets: [String: String] = [:]

    init(_ section: String) throws {
        directory = try TemporaryDirectory()
        if ["In CI", "Signing in CI"].contains(section) { try prepareWorkflow() }
        let programs = ["latchkey", "latchkeyd", "latchkey-secret-service"].map { ($0, $0) }
        for (name, target) in programs + [("security", "latchkey")] {
            try FileManager.default.createDirectory(atPath: "\(directory.path)/bin", withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                atPath: "\(directory.path)/bin/\(name)", withDestinationPath: Executable.path(target))
        }
        let prepared = try run("umask 077; mkdir run stick; " + Self.preparation(section, directory.path))
        try #require(prepared.status == 0, "\(section): \(prepared)")
        if ["On a desktop", "The desktop's keyring"].contains(section) {
            bus = try SessionBus(environment, in: directory.path)
        }
    }

    deinit {
        stopDaemon()
        stopStartedDaemon()
    }

    private func prepareWorkflow() throws {
        try RecipeFixtures.shared.get().write(to: directory.path)
        let identity = try Data(contentsOf: URL(filePath: "\(directory.path)/developer.p12"))
        secrets = [
            "CERTIFICATE_BASE64": identity.base64EncodedString(), "P12_PASSWORD": "p12 s3cret",
            "KEYCHAIN_PASSWORD": "of the workflow",
        ]
    }

    /// Ends the daemon that a command of the page has started.
    private func stopStartedDaemon() {
        struct Status: Decodable {
            struct Daemon: Decodable { let pid: pid_t }
            let daemon: Daemon?
        }
        guard let outcome = try? run("latchkey status --json"),
            let status = try? JSONDecoder().decode(Status.self, from: Data(outcome.output.utf8)),
            let process = status.daemon?.pid, process > 1
        else { return }
        kill(process, SIGTERM)
        _ = eventually { !ProcessTable.isRunning(process) }
    }

    /// Runs a line in a shell in the home.
    func run(_ line: String) throws -> Executable.Outcome {
        let (output, error) = ("\(directory.path)/.output", "\(directory.path)/.error")
        for path in [output, error] { try Data().write(to: URL(filePath: path)) }
        let shell = try SpawnedProcess(
            ["/bin/sh", "-c", "cd ~ && exec 2> .error\n\(line)"], environment: environment, output: output)
        let status = shell.awaitExit()
        return Executable.Outcome(
            status: status, output: try String(contentsOfFile: output, encoding: .utf8),
            error: try String(contentsOfFile: error, encoding: .utf8))
    }

    /// Starts the user's daemon, and waits until it listens.
    func startDaemon() throws {
        let started = try SpawnedProcess(
            [Executable.path("latchkeyd"), "--user"], environment: environment, output: "\(directory.path)/daemon.log")
        daemon = started
        let isListening = eventually { [socket = "\(directory.path)/run/latchkey/socket"] in
            (try? Socket(connectingTo: socket)) != nil || !started.isRunning
        }
        let said = try String(contentsOfFile: "\(directory.path)/daemon.log", encoding: .utf8)
        try #require(isListening && started.isRunning, "\(said)")
    }

    /// Stops the daemon; returns its exit status.
    @discardableResult
    func stopDaemon() -> Int32? {
        defer { daemon = nil }
        return daemon?.stop(signal: SIGTERM)
    }

    private var environment: [String: String] {
        let home = directory.path
        return [
            "HOME": home, "PATH": "\(home)/bin:/usr/bin:/bin", "XDG_RUNTIME_DIR": "\(home)/run",
            "SSL_CERT_FILE": "\(home)/ca.pem",
            "SSL_CERT_DIR": "\(home)/none", "SWIFT_BACKTRACE": "enable=no",
            // Set, so that the test does not use the keychain or the daemon of this machine.
            "LATCHKEY_HOME": "\(home)/.local/share/latchkey",
            "DBUS_SESSION_BUS_ADDRESS": bus?.address ?? "unix:path=\(home)/none",
        ].merging(secrets) { $1 }
    }

    private static let alice = "security add-generic-password -a alice -s example.com -w s3cret; "
    private static let authority = Result { try OpenSSLAuthority() }
    private static let passcode =
        "printf 'wrong donkey charger nail\\n' > .passcode; printf 'purple monkey dishwasher\\n' > .pass; "

    /// The commands that prepare the first line of a section.
    private static func preparation(_ section: String, _ home: String) throws -> String {
        switch section {
        case "Passcode, lock and backup": return alice + passcode
        case "In CI", "Signing in CI": return "echo release > release.tar; cp root.pem ca.pem"
        case "Keys": return "echo release > release.tar; ssh-keygen -q -t ecdsa -N '' -f id_ecdsa"
        case "Certificates":
            let authority = try authority.get()
            let server = try authority.server("example.com")
            return """
                cp \(authority.root.file) ca.pem; cp \(authority.intermediate.file) chain.pem; cp \(server.file) server.pem
                printf 's3cret pass\\n' > .pass
                openssl pkcs12 -export -inkey \(server.keyFile) -in server.pem -out identity.p12 -passout 'pass:s3cret pass'
                """
        case "A daemon":
            return alice + passcode
                + """
                latchkey passcode set --passcode-file .passcode
                printf '#!/bin/sh\\nsecurity find-generic-password -a alice -w\\n' > deploy.sh; chmod 700 deploy.sh
                """
        default: return "true"
        }
    }
}

/// A session bus with the Secret Service, as a desktop has it.
private final class SessionBus {
    let address: String
    private let session: SpawnedProcess

    init(_ environment: [String: String], in directory: String) throws {
        let output = "\(directory)/bus"
        let session = try SpawnedProcess(
            [
                Executable.path("latchkey"), "session", "--", "/bin/sh", "-c",
                "echo $DBUS_SESSION_BUS_ADDRESS; exec sleep infinity",
            ], environment: environment, output: output)
        self.session = session
        func written() -> String? { try? String(contentsOfFile: output, encoding: .utf8) }
        let isReady = eventually { written()?.hasSuffix("\n") == true || !session.isRunning }
        let text = written() ?? ""
        try #require(isReady && text.hasPrefix("unix:"), "\(text)")
        address = text.trimmingCharacters(in: .newlines)
    }

    deinit { session.stop(signal: SIGTERM) }
}

extension Substring {
    /// Returns the part before a text; the whole string if the text is not found.
    fileprivate func prefix(upToFirst text: String) -> Substring {
        range(of: text).map { self[..<$0.lowerBound] } ?? self
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@testable import LatchkeyCommands
import SecretMemory
import Testing

/// Untrusted text from certificates, items, arguments and errors is escaped before it is printed.
@Suite("Untrusted text in commands")
struct ForeignTextTests {
    private let keychain: TestKeychain
    /// Clears the screen, starts new lines, and reverses the direction of the following text.
    private static let hostile = "x\n...certificate verification successful.\r\u{1B}[2J\u{9B}8m\u{202E}moc"
    private static let shown = "x\\n...certificate verification successful.\\r\\x1b[2J\\x9b8m\\u{202e}moc"

    init() throws {
        keychain = try TestKeychain(.ephemeral)
    }

    @Test("a common name cannot forge a line of verify-cert, inspect, explain, find-identity or the trust settings")
    func certificates() throws {
        let authority = try OpenSSLAuthority()
        let name = "x\n...certificate verification successful.\n\u{1B}[2J"
        let leaf = try authority.issue("/CN=\(name)", OpenSSLAuthority.server("DNS:example.com"), by: nil)
        let lines = [
            "verify-cert -v -t -P -c \(leaf.file)", "certificate inspect \(leaf.file)", "trust explain \(leaf.file)",
            "import \(leaf.keyFile)", "add-certificates \(leaf.file)", "add-certificates \(leaf.file)", "find-identity",
            "find-certificate -a", "find-certificate -m -Z", "key list", "dump-keychain",
            "add-trusted-cert -r trustRoot -o \(leaf.file).plist \(leaf.file)",
        ]
        for line in lines {
            let outcome = keychain.latchkey(line)
            expectPlain(outcome, line)
            #expect(!outcome.output.contains("\n...certificate verification successful."), "\(line): \(outcome.output)")
            #expect(!outcome.error.contains("\n...certificate verification successful."), "\(line): \(outcome.error)")
        }
        #expect(
            keychain.latchkey("certificate inspect \(leaf.file)").output.contains(
                "CN=x\\0a...certificate verification successful."))
        #expect(
            keychain.latchkey("find-identity").output.contains(
                "\"x\\n...certificate verification successful.\\n\\x1b[2J\""))
    }

    @Test("labels, services and accounts are escaped in item blocks and lists")
    func items() {
        let word = CommandWord(Self.hostile)
        #expect(keychain.security(["add-generic-password", "-a", word, "-s", word, "-l", word, "-w", "v"]).exit == 0)
        #expect(keychain.security(["add-generic-password", "-a", word, "-s", word, "-w", "v"]).exit == 45)
        #expect(keychain.security(["create-keypair", "-a", "ec", "--tag", word, word]).exit == 0)
        for line in [
            "dump-keychain", "find-generic-password", "find-key", "key list", "list", "list --json",
            "delete-generic-password",
        ] {
            expectPlain(keychain.latchkey(line), line)
        }
        #expect(keychain.latchkey("key list").output.contains("\t\(Self.shown)\t"))
        // JSON keeps the original text, with JSON's escapes.
        let json = keychain.latchkey("key list --json").output
        expectPlain(json, "key list --json")
        #expect(
            json.contains(#""tag" : "x\n...certificate verification successful.\r\u001b[2J\u009b8m\u202emoc""#),
            "\(json)")
    }

    @Test(
        "words of the command line are escaped in error messages",
        arguments: [
            ["W"], ["help", "W"], ["error", "W"], ["find-generic-password", "W"], ["find-generic-password", "-W"],
            ["find-generic-password", "--W"], ["add-internet-password", "-a", "a", "-s", "s", "-P", "W"],
            ["add-generic-password", "-c", "W"],
            ["add-certificates", "W"], ["verify-cert", "-c", "W"], ["verify-cert", "-c", "/dev/null", "-d", "W"],
            ["import", "W"],
            ["export", "-f", "W"], ["export", "-t", "W"], ["delete-certificate", "-c", "W"],
            ["delete-identity", "-Z", "W"],
            ["list-keychains", "-d", "W"], ["set-keychain-settings", "-t", "W"], ["create-keypair", "-a", "W", "x"],
            ["find-key", "-t", "W"],
            ["trust-settings-import", "W"], ["status", "W"], ["status", "--W"], ["key", "W"],
            ["key", "sign", "--tag", "W"],
            ["key", "generate", "--tag", "a", "--type", "W"], ["key", "generate", "--tag", "a", "--accessible", "W"],
            ["key", "delete", "--tag", "W"], ["log", "--since", "W"], ["restore", "W"],
            ["passcode", "set", "--passcode-file", "W"], ["set", "W"], ["get", "W"], ["rm", "W"], ["list", "W"],
            ["list", "W*"], ["copy", "W"], ["generate", "W"], ["get", "W/a/b"], ["get", "a%W"],
            ["get", "--attribute", "W"],
            ["set", "a/b", "--protection", "W"], ["set", "a/b", "W"], ["generate", "a/b", "--alphabet", "W"],
            ["set", "--server", "W", "--account", "W", "--json"],
            ["--W"], ["-p", "W"],
        ])
    func arguments(words: [String]) {
        let command = words.map { CommandWord($0.replacing("W", with: Self.hostile)) }
        for name in ["latchkey", "security"] as [CommandWord] {
            let outcome = keychain.security(
                command, as: name, io: TestIO(input: ["a passphrase of mine"], isErrorInteractive: false))
            expectPlain(outcome, "\(words)")
        }
    }

    @Test("the prompt and the names of commands are escaped in interactive mode")
    func interactive() {
        let words = [CommandWord("-p"), CommandWord(Self.hostile)]
        let outcome = keychain.security(words, io: TestIO(input: ["\u{1B}[2Jbogus\u{202E}"], answers: []))
        expectPlain(outcome, "interactive")
        #expect(outcome.error.hasPrefix(Self.shown))
        #expect(outcome.error.contains("\\x1b[2Jbogus\\u{202e}: returned 1\n"))
    }

    @Test("the problem and the hint of an error are one line each")
    func errors() {
        let service = FailingService(error: KeychainError(.notAvailable, Self.hostile, hint: Self.hostile))
        for line in ["find-generic-password", "status", "doctor", "dump-keychain", "who", "log"] {
            expectPlain(security(line, on: service), line)
            expectPlain(security(line, as: "latchkey", on: service), line)
        }
        let outcome = security("find-generic-password", on: service)
        #expect(outcome.error == "security: SecKeychainSearchCopyNext: \(Self.shown)\nhint: \(Self.shown)\n")
    }

    @Test("a long message is truncated")
    func length() {
        let outcome = keychain.security(["help", CommandWord(String(repeating: "x", count: 100_000))])
        #expect(outcome.error.utf8.count < 1200)
        #expect(outcome.error.contains("more characters)"))
    }

    @Test("a requested secret is written byte for byte")
    func secrets() throws {
        let secret = Array("\u{1B}[2J\n\u{202E}".utf8)
        #expect(keychain.latchkey("key generate --tag k --type rsa --size 2048").exit == 0)
        let file = try TemporaryDirectory()
        try Data(secret).write(to: URL(filePath: "\(file.path)/in"))
        #expect(keychain.latchkey("key encrypt --tag k -o \(file.path)/out \(file.path)/in").exit == 0)
        let io = TestIO()
        #expect(keychain.latchkey("key decrypt --tag k \(file.path)/out", io: io).exit == 0)
        #expect(io.output == secret)
    }

    /// Expects that the output has no control characters and no invisible ones.
    private func expectPlain(_ outcome: Outcome, _ line: String, sourceLocation: SourceLocation = #_sourceLocation) {
        expectPlain(outcome.output, line, sourceLocation: sourceLocation)
        expectPlain(outcome.error, line, sourceLocation: sourceLocation)
    }

    private func expectPlain(_ text: String, _ line: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let raw = text.unicodeScalars.filter { scalar in
            let category = scalar.properties.generalCategory
            return scalar != "\n" && scalar != "\t"
                && [.control, .format, .lineSeparator, .paragraphSeparator].contains(category)
        }
        #expect(raw.isEmpty, "\(line): \(text.debugDescription)", sourceLocation: sourceLocation)
    }
}

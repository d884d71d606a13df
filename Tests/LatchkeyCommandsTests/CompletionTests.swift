// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@testable import LatchkeyCommands
import Testing

/// The words that the completion scripts offer.
@Suite("Completions")
struct CompletionTests {
    private struct Tool: Decodable { var command: Command }

    private struct Command: Decodable {
        var commandName: String
        var arguments: [Argument]?
        var subcommands: [Command]?
    }

    private struct Argument: Decodable {
        var kind: String
        var valueName: String?
        var completionKind: Completion?
    }

    private struct Completion: Decodable {
        var list: Words?
        var file: Words?
        var directory: Words?

        struct Words: Decodable { var values: [String]? }
    }

    private let keychain: TestKeychain

    init() throws {
        keychain = try TestKeychain(.ephemeral)
    }

    private func root() throws -> Command {
        let text = keychain.latchkey("--experimental-dump-help").output
        return try JSONDecoder().decode(Tool.self, from: Data(text.utf8)).command
    }

    @Test("Every argument that is a file is completed as one")
    func files() throws {
        var count = 0
        func check(_ command: Command) {
            for argument in command.arguments ?? [] where argument.kind != "flag" {
                guard let name = argument.valueName, Self.fileNames.contains(name) else { continue }
                count += 1
                #expect(argument.completionKind?.file != nil, "\(command.commandName): \(name)")
            }
            for nested in command.subcommands ?? [] { check(nested) }
        }
        check(try root())
        #expect(count > 70)
    }

    @Test("The steps of setup, identifiers, and the commands of other programs are completed")
    func words() throws {
        let commands = try root().subcommands ?? []
        func list(_ name: String) -> [String]? {
            let arguments = commands.first { $0.commandName == name }?.arguments
            return arguments?.first { $0.kind == "positional" }?.completionKind?.list?.values
        }
        #expect(list("setup") == SetupPlan.names)
        #expect(list("explain") == ErrorIdentifier.allCases.map(\.description))
        #expect(list("tls") == ["check"])
        #expect(list("pin") == ["add", "list", "remove", "report"])
        #expect(list("lint") == ["scan", "install-hook"])
        #expect(commands.first { $0.commandName == "mount" }?.arguments?.first?.completionKind?.directory != nil)
    }

    @Test(
        "In bash, latchkey offers the words that its commands accept", .long,
        arguments: [
            ("find-generic-password --passcode-fi", "--passcode-file"), ("find-generic-password --v", ""),
            ("find-generic-password -h", ""), ("find-generic-password FILE", "FILE1"),
            ("help find-gen", "find-generic-password"),
            ("help machi", "machine"), ("setup secret", "secret-service"), ("explain LK1001", "LK1001"),
            ("pin rep", "report"), ("tls ch", "check"), ("cat FILE", "FILE1"), ("status --passcode-file FILE", ""),
            ("get --passcode-file FILE", "FILE1"), ("set --secret-file FILE", "FILE1"), ("get --path FILE", ""),
            ("get FILE", ""), ("set a --up", "--update"), ("set --forc", "--force"),
            ("get --attribute mod", "modified"), ("list --class gen", "generic"), ("copy --using osc", "osc52"),
            ("copy --cle", ""), ("rm --dry", "--dry-run"), ("generate --versi", "--version"),
        ])
    func bash(line: String, expected: String) throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let script = "\(directory.path)/latchkey"
        let text = keychain.latchkey("--generate-completion-script bash").output
        try Data(text.utf8).write(to: URL(filePath: script))
        let prefix = "\(directory.path)/file"
        try Data().write(to: URL(filePath: "\(prefix)1"))
        let words = (["latchkey"] + line.split(separator: " ").map(String.init)).map { $0 == "FILE" ? prefix : $0 }
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/bash")
        shell.arguments = ["-c", Self.completion, "bash", script] + words
        let output = Pipe()
        shell.standardOutput = output
        try shell.start()
        let found = String(decoding: output.fileHandleForReading.awaitEnd(), as: UTF8.self)
        shell.awaitExit()
        let wanted = expected == "FILE1" ? "\(prefix)1" : expected
        #expect(found == (wanted.isEmpty ? "" : "\(wanted)\n"), "\(line)")
    }

    /// Calls the function of the script as bash does after Tab, and prints the words that it offers.
    private static let completion = """
        source "$1"; shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMPREPLY=()
        COMP_POINT=${#COMP_LINE}
        _latchkey "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        for word in "${COMPREPLY[@]}"; do printf '%s\\n' "$word"; done
        """

    @Test("Each shell gets the options and values of the daily commands", .long, arguments: ["bash", "zsh", "fish"])
    func daily(shell: String) throws {
        let script = keychain.latchkey("--generate-completion-script \(shell)").output
        let lines = script.split(separator: "\n", omittingEmptySubsequences: false)
        for definition in LatchkeySubcommand.allCases.compactMap(\.definition) {
            // The function of bash and zsh, or the lines of fish.
            let part =
                shell == "fish"
                ? lines.filter { $0.contains("\"latchkey \(definition.name)\"") }
                : Array(lines.drop { $0 != "_latchkey_\(definition.name)() {" }.prefix { $0 != "}" })
            for option in definition.options {
                for name in option.names {
                    let spelling =
                        shell == "fish" ? "-\(name.hasPrefix("--") ? "l" : "s") '\(name.drop { $0 == "-" })'" : name
                    let found = part.filter { $0.contains(spelling) }
                    #expect(found.isEmpty == option.isHidden, "\(definition.name) \(name)")
                }
                guard case .words(let words) = option.completion else { continue }
                let list = shell == "bash" ? words.joined(separator: "\\n") : words.joined(separator: " ")
                #expect(part.contains { $0.contains(list) }, "\(definition.name) \(option.name)")
            }
        }
    }

    @Test("Each shell gets the options of macOS's commands", .long, arguments: ["bash", "zsh", "fish"])
    func macOS(shell: String) {
        let script = keychain.latchkey("--generate-completion-script \(shell)").output
        #expect(script.contains("access-group") && script.contains("no-prompt"))
        for name in ["find-generic-password", "help", "verify-cert"] {
            #expect(!script.contains("\"latchkey \(name)\" version"), "\(name)")
            guard let start = script.range(of: "\n_latchkey_\(name)() {\n") else { continue }
            let end = script[start.upperBound...].range(of: "\n}")?.lowerBound ?? script.endIndex
            let body = script[start.upperBound..<end]
            #expect(!body.contains("--version"), "\(name)")
        }
        let find = CommandTable.entries.first { $0.name == "find-generic-password" }
        guard case .implemented(let command)? = find?.support else { return }
        for option in command.definition.options where option.name.hasPrefix("--") {
            #expect(script.contains(option.name.dropFirst(2)), "\(option.name)")
        }
    }

    /// The names of values that are files.
    private static let fileNames: Set = ["file", "files", "identity", "answer", "challenge", "program", "command"]
}

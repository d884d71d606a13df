// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@testable import LatchkeyCommands
import Testing

/// What the completion scripts offer.
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

    @Test("The steps of setup, identifiers, and the commands of latchkey-tls are completed")
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
        #expect(commands.first { $0.commandName == "mount" }?.arguments?.first?.completionKind?.directory != nil)
    }

    /// The names of values that are files.
    private static let fileNames: Set = ["file", "files", "identity", "answer", "challenge", "program", "command"]
}

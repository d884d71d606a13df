// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import LatchkeyCommands
import Testing

/// The table of macOS's commands and flags.
@Suite("Table of macOS's commands")
struct SecurityCommandsPageTests {
    /// The flags of macOS's commands (keychain-behaviour §8.2), without those of commands that are not
    /// implemented.
    private static let flags: [String: String] = [
        "list-keychains": "ds", "default-keychain": "ds", "login-keychain": "ds", "create-keychain": "pP",
        "lock-keychain": "a", "unlock-keychain": "pu", "set-keychain-settings": "lut", "set-keychain-password": "op",
        "dump-keychain": "adir", "create-keypair": "asftdkAT", "add-generic-password": "asjwpXUlDGcCAT",
        "add-internet-password": "aswXUlDjcCATdpPrt", "add-certificates": "k", "find-generic-password": "aslDjGcCgw",
        "find-internet-password": "aslDjcCgwdpPrt", "delete-generic-password": "aslDjGcC",
        "delete-internet-password": "aslDjcCdpPrt", "set-generic-password-partition-list": "aslDjGcCSk",
        "set-internet-password-partition-list": "aslDjcCdpPrtSk", "find-key": "alcDjtdersuvw",
        "set-key-partition-list": "alcDjtdersuvwSk", "find-certificate": "acempZ", "find-identity": "psv",
        "delete-certificate": "cZt", "delete-identity": "cZt", "export": "ktfwpPo", "import": "ktfwxPaAT",
        "cms": "SECDiokNZrTcGHPYeuphnsv", "add-trusted-cert": "drpaseukio", "remove-trusted-cert": "d",
        "dump-trust-settings": "sd", "trust-settings-export": "sd", "trust-settings-import": "d",
        "verify-cert": "crpCdknNLlesqRPtv",
    ]

    @Test("The page lists every command with every flag of macOS and its effect here")
    func page() throws {
        var lines = [
            "# Commands of `security`", "",
            "Every command and flag of macOS's `security`, and what it does here. `SecurityCommandsPageTests`",
            "generates this page (`LATCHKEY_RECORD=1 ./Scripts/check/test --filter SecurityCommandsPageTests`).", "",
            "- works: as on macOS, apart from what [Compatibility.md](Compatibility.md#the-command-security) says",
            "- accepted: without effect, or only kept and shown; the help of the command says why",
            "- refused: with this exit value", "",
            "| command | works | accepted | refused |", "|---|---|---|---|",
        ]
        for entry in CommandTable.entries {
            switch entry.support {
            case .planned: lines.append("| `\(entry.name)` | | | 252 |")
            case .unsupported: lines.append("| `\(entry.name)` | | | 1 |")
            case .implemented(let command): lines.append(Self.row(command.definition))
            }
        }
        let text = lines.joined(separator: "\n") + "\n"
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../Documentation/SecurityCommands.md")
        if ProcessInfo.processInfo.environment["LATCHKEY_RECORD"] == "1" {
            try Data(text.utf8).write(to: file)
            Issue.record("recorded the page: read it, then run the tests without LATCHKEY_RECORD")
            return
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == text)
    }

    private static func row(_ definition: CommandDefinition) -> String {
        var (works, accepted, refused): ([String], [String], [String]) = ([], [], [])
        let own = definition.options.filter { !$0.name.hasPrefix("--") }
        for option in own {
            if option.help.hasPrefix("accepted") {
                accepted.append("`\(option.name)`")
            } else if option.help.hasPrefix("refused") || option.help.contains("not supported") {
                refused.append("`\(option.name)`")
            } else {
                works.append("`\(option.name)`")
            }
        }
        let known = Set(own.map(\.name))
        for flag in flags[definition.name] ?? "" where !known.contains("-\(flag)") {
            refused.append("`-\(flag)` (2)")
        }
        let all = works.isEmpty ? "yes" : works.joined(separator: " ")
        return
            "| `\(definition.name)` | \(all) | \(accepted.joined(separator: " ")) | \(refused.joined(separator: " ")) |"
    }
}

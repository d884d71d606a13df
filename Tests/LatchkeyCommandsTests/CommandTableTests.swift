// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
@testable import LatchkeyCommands
import Testing

/// macOS's names and abbreviations (keychain-behaviour §8.1, §8.2).
@Suite("Command names")
struct CommandTableTests {
    @Test(
        "an abbreviation means the first command of macOS's table that begins with it",
        arguments: [
            ("list-keychain", "list-keychains"), ("l", "list-keychains"), ("find-g", "find-generic-password"),
            ("find-i", "find-internet-password"), ("find-id", "find-identity"), ("add", "add-generic-password"),
            ("add-g", "add-generic-password"), ("add-c", "add-certificates"), ("delete-k", "delete-keychain"),
            ("unlock", "unlock-keychain"),
            ("default", "default-keychain"), ("dump", "dump-keychain"), ("delete-g", "delete-generic-password"), ("e", "export"),
            ("er", "error"), ("import", "import"), ("set-g", "set-generic-password-partition-list"), ("help", "help"),
            ("s", "set-keychain-settings"),
        ])
    func abbreviations(name: String, meaning: String) {
        #expect(CommandTable.entry(abbreviated: CommandWord(name))?.name == meaning)
    }

    @Test(
        "what is no beginning of a name means nothing",
        arguments: ["", "find-generic-passwords", "Find-generic-password", "x", "find-generic password"])
    func unknown(name: String) {
        #expect(CommandTable.entry(abbreviated: CommandWord(name)) == nil)
    }

    @Test("every command's own name means that command")
    func fullNames() {
        for entry in CommandTable.entries {
            #expect(CommandTable.entry(abbreviated: CommandWord(entry.name))?.name == entry.name)
            if case .built(let command) = entry.support { #expect(command.definition.name == entry.name) }
        }
    }

    @Test("a command of a later version says so and exits with 252, one that has no place here exits with 1")
    func notBuilt() throws {
        let keychain = try TestKeychain(.ephemeral)
        for entry in CommandTable.entries {
            switch entry.support {
            case .built: continue
            case .later:
                let outcome = keychain.security("\(entry.name) -k whatever")
                #expect(outcome.exit == 252 && outcome.output.isEmpty)
                #expect(outcome.error.hasPrefix("security: \(entry.name) is not supported by this version\nhint: "))
            case .foreign:
                #expect(
                    keychain.security(entry.name)
                        == Outcome(exit: 1, output: "", error: "security: \(entry.name) is not supported on this system\n"))
            }
        }
    }

    @Test("called as security, macOS's abbreviations come before our names; called as latchkey, our exact names do")
    func twoNames() throws {
        let keychain = try TestKeychain(.ephemeral)
        #expect(keychain.security("status").output.hasPrefix("keychain:"))
        #expect(keychain.latchkey("status").output.hasPrefix("keychain:"))
        #expect(keychain.security("statu").exit == 1)
        #expect(keychain.latchkey("statu").exit == 1)
        #expect(keychain.latchkey("list-keychain").output == "    \"ephemeral\"\n")
        #expect(keychain.security("--version").exit == 2)
        #expect(keychain.latchkey("--version").output == "\(LatchkeyVersion.current)\n")
    }

    @Test("the program's name is the last component of the path it was called by")
    func programName() {
        #expect(Program(calledAs: "/usr/bin/security") == .security)
        #expect(Program(calledAs: "security") == .security)
        #expect(Program(calledAs: "./latchkey") == .latchkey)
        #expect(Program(calledAs: "/opt/security/latchkey") == .latchkey)
        #expect(Program(calledAs: nil) == .latchkey)
    }
}

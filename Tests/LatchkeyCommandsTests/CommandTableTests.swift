// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
@testable import LatchkeyCommands
import Testing

/// macOS's names and abbreviations (keychain-behaviour §8.1, §8.2).
@Suite("Command names")
struct CommandTableTests {
    @Test(
        "an abbreviation selects the first command of macOS's table that begins with it",
        arguments: [
            ("list-keychain", "list-keychains"), ("l", "list-keychains"), ("find-g", "find-generic-password"),
            ("find-i", "find-internet-password"), ("find-id", "find-identity"), ("add", "add-generic-password"),
            ("add-g", "add-generic-password"), ("add-c", "add-certificates"), ("delete-k", "delete-keychain"),
            ("unlock", "unlock-keychain"),
            ("default", "default-keychain"), ("dump", "dump-keychain"), ("delete-g", "delete-generic-password"),
            ("e", "export"),
            ("er", "error"), ("import", "import"), ("set-g", "set-generic-password-partition-list"), ("help", "help"),
            ("s", "set-keychain-settings"),
        ])
    func abbreviations(name: String, meaning: String) {
        #expect(CommandTable.entry(abbreviated: CommandWord(name))?.name == meaning)
    }

    @Test(
        "a word that is not the beginning of a name selects no command",
        arguments: ["", "find-generic-passwords", "Find-generic-password", "x", "find-generic password"])
    func unknown(name: String) {
        #expect(CommandTable.entry(abbreviated: CommandWord(name)) == nil)
    }

    @Test("the full name of every command selects that command")
    func fullNames() {
        for entry in CommandTable.entries {
            #expect(CommandTable.entry(abbreviated: CommandWord(entry.name))?.name == entry.name)
            if case .implemented(let command) = entry.support { #expect(command.definition.name == entry.name) }
        }
    }

    @Test("a planned command exits with 252, an unsupported one with 1, and each reports why")
    func notBuilt() throws {
        let keychain = try TestKeychain(.ephemeral)
        for entry in CommandTable.entries {
            switch entry.support {
            case .implemented: continue
            case .planned:
                let outcome = keychain.security("\(entry.name) -k whatever")
                #expect(outcome.exit == 252 && outcome.output.isEmpty)
                #expect(outcome.error.hasPrefix("security: \(entry.name) is not supported by this version\nhint: "))
            case .unsupported:
                #expect(
                    keychain.security(entry.name)
                        == Outcome(
                            exit: 1, output: "", error: "security: \(entry.name) is not supported on this system\n"))
            }
        }
    }

    @Test("as security, macOS's abbreviations precede Latchkey's names; as latchkey, Latchkey's exact names come first")
    func twoNames() throws {
        let keychain = try TestKeychain(.ephemeral)
        #expect(keychain.security("status").output.hasPrefix("keychain:"))
        #expect(keychain.latchkey("status").output.hasPrefix("keychain:"))
        #expect(keychain.security("statu").exit == 1)
        #expect(keychain.latchkey("statu").exit == 1)
        #expect(keychain.security("list-keychain").output == "    \"ephemeral\"\n")
        #expect(keychain.security("--version").exit == 2)
        #expect(keychain.latchkey("--version").output == "\(LatchkeyVersion.current)\n")
    }

    @Test(
        "an unknown name is answered with a similar command; only security accepts abbreviations",
        arguments: [
            ("statsu", "status"), ("stauts", "status"), ("Status", "status"), ("docter", "doctor"), ("bakup", "backup"),
            ("restor", "restore"),
            ("Get", "get"), ("SET", "set"), ("show", "get"), ("insert", "set"), ("delete", "rm"), ("ls", "list"),
            ("lsit", "list"), ("genrate", "generate"), ("cpoy", "copy"), ("clip", "copy"), ("r", nil),
            ("whoami", "who"), ("passwd", "passcode change"), ("sign", "key sign"), ("find-g", "find-generic-password"),
            ("find-generic-pasword", "find-generic-password"), ("fnid-identity", "find-identity"),
            ("list-keychain", "list-keychains"),
            ("recovery-kye", "recovery-key"), ("certificat", "certificate"), ("xqzw", nil), ("x", nil), ("", nil),
            (String(repeating: "status", count: 1000), nil),
        ] as [(String, String?)])
    func meant(name: String, command: String?) throws {
        let outcome = try TestKeychain(.ephemeral).security([CommandWord(name)], as: "latchkey")
        #expect(outcome.exit == 1 && outcome.output.isEmpty)
        #expect(outcome.error.hasPrefix("latchkey: unknown command \""))
        let question = command.map { "did you mean 'latchkey \($0)'? " } ?? ""
        #expect(outcome.error.hasSuffix("\nhint: \(question)latchkey help\n"), "\(outcome.error)")
    }

    @Test("security also suggests a similar command, and so does a sub-command of latchkey")
    func meantElsewhere() throws {
        let keychain = try TestKeychain(.ephemeral)
        #expect(
            keychain.security("find-generic-pasword").error.hasSuffix(
                "hint: did you mean 'security find-generic-password'? security help\n"))
        #expect(
            keychain.latchkey("passcode chnage").error.hasSuffix(
                "hint: did you mean 'latchkey passcode change'? latchkey passcode --help\n"))
        #expect(
            keychain.latchkey("key sing --tag a").error.hasSuffix(
                "hint: did you mean 'latchkey key sign'? latchkey key --help\n"))
        #expect(keychain.latchkey("key xqzw").error.hasSuffix("hint: latchkey key --help\n"))
    }

    @Test("every suggested command exists")
    func suggestions() throws {
        let keychain = try TestKeychain(.ephemeral)
        for word in [
            "show", "insert", "delete", "ls", "gen", "clip", "info", "check", "whoami", "logs", "run", "init", "passwd",
            "recovery", "recover",
            "verify",
            "keygen", "sign", "encrypt", "decrypt", "keys", "inspect",
        ] {
            let command = try #require(Suggestion.command(for: word, in: .latchkey))
            #expect(keychain.latchkey("\(command) --help").exit == 0, "\(command)")
        }
        for word in ["find", "insert", "rm", "generate", "copy", "ls", "whoami"] {
            let command = Suggestion.command(for: word, in: .security)
            #expect(command.map { keychain.security("\($0) --help").exit } ?? 0 == 0, "\(word)")
        }
    }

    @Test("no name of Latchkey's commands is a name of macOS's, and no family has the name of a command")
    func clashes() {
        let own = Set(LatchkeySubcommand.allCases.map(\.rawValue))
        let macOS = Set(CommandTable.entries.map(\.name))
        #expect(own.isDisjoint(with: macOS))
        #expect(Set(CommandFamily.allCases.map(\.rawValue)).isDisjoint(with: own.union(macOS)))
        let members = CommandFamily.allCases.flatMap(\.members)
        #expect(Set(members) == Set(LatchkeySubcommand.allCases) && members.count == own.count)
    }

    @Test(
        "the daily commands exist as latchkey only; as security, their names are macOS's abbreviations, or unknown",
        arguments: [
            ("set", "set-keychain-settings"), ("get", "get-identity-preference"), ("list", "list-keychains"),
            ("copy", nil), ("generate", nil), ("rm", nil),
        ] as [(String, String?)])
    func daily(name: String, meaning: String?) throws {
        #expect(LatchkeySubcommand(rawValue: name)?.isDaily == true)
        #expect(CommandTable.entry(abbreviated: CommandWord(name))?.name == meaning)
        let keychain = try TestKeychain(.ephemeral)
        #expect(keychain.latchkey("\(name) --help").output.contains("USAGE: latchkey \(name) "))
        guard meaning == nil else { return }
        let outcome = keychain.security(name)
        #expect(outcome.exit == 1 && outcome.error.hasPrefix("security: unknown command \"\(name)\"\n"))
    }

    @Test("a hint names only options of the command")
    func hints() throws {
        let service = FailingService(error: KeychainError(.duplicateItem))
        for line in ["add-generic-password -a a -s s", "add-internet-password -a a -s s"] {
            #expect(
                LatchkeyCommandsTests.security(line, on: service).error.hasSuffix(
                    "\nhint: -U updates an existing item\n"))
        }
        for line in ["create-keypair -a ec x", "find-generic-password", "key generate --tag a", "lock-keychain -a"] {
            let outcome = LatchkeyCommandsTests.security(line, on: service)
            #expect(outcome.exit == 45 && !outcome.error.contains("-U"), "\(outcome.error)")
        }
        let directory = try TemporaryDirectory()
        let keychain = try TestKeychain(.ephemeral)
        keychain.latchkey("key generate --tag k")
        for _ in 1...2 { keychain.latchkey("key public --tag k -o \(directory.path)/a") }
        #expect(
            keychain.latchkey("key public --tag k -o \(directory.path)/a").error.hasSuffix(
                "\nhint: --force replaces it\n"))
        let export = keychain.security("export -t privKeys -f openssl -o \(directory.path)/a")
        #expect(export.exit == 45 && export.error.hasSuffix("\nhint: remove it, or name another file\n"))
    }

    @Test("an error names the missing secret")
    func nouns() throws {
        let keychain = try TestKeychain(.ephemeral)
        #expect(keychain.latchkey("backup /nowhere/b").error.contains("a passphrase is required"))
        #expect(keychain.latchkey("restore /nowhere/b").error.contains("a passphrase is required"))
        #expect(keychain.latchkey("passcode set").error.contains("a passcode is required"))
        #expect(keychain.latchkey("recovery-key use").error.contains("a recovery key is required"))
        let differing = TestIO(answers: ["a phrase of mine", "a phrase of yours"])
        #expect(keychain.latchkey("backup /nowhere/b", io: differing).error.contains("the two passphrases differ"))
    }

    @Test(
        "a new passcode in a pipe is one line, or two equal ones; two different ones change nothing",
        arguments: [
            ("passcode set", []), ("passcode change", ["an unusual passcode"]), ("backup -", []),
        ] as [(String, [String])])
    func repetition(command: String, before: [String]) throws {
        let new = "a phrase of mine"
        for (lines, exit) in [
            ([new], 0), ([new, new], 0), ([new, "a phrase of yours"], 206), ([new, ""], 206), (["", new], 206),
        ] as [([String], Int32)] {
            let keychain = try TestKeychain(.ephemeral)
            for passcode in before { keychain.latchkey("passcode set", io: TestIO(input: [passcode])) }
            let outcome = keychain.latchkey(command, io: TestIO(input: before + lines))
            #expect(outcome.exit == exit, "\(lines): \(outcome)")
            if exit != 0 { #expect(outcome.output.isEmpty && outcome.error.contains("s differ; nothing was changed")) }
            guard command != "backup -" else { continue }
            // The passcode that the keychain has now opens the way to another.
            let current = TestIO(input: (exit == 0 ? [new] : before) + ["another phrase"])
            #expect(keychain.latchkey(exit == 0 ? "passcode change" : command, io: current).exit == 0)
        }
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

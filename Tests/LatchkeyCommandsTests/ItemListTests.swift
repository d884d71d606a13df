// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@testable import LatchkeyCommands
import LatchkeyOperations
import LatchkeyService
import Testing

/// `latchkey list` and `rm`.
@Suite("Listing and deleting items")
struct ItemListTests {
    let keychain: TestKeychain

    init() throws {
        keychain = try TestKeychain(.ephemeral)
        for (name, options) in [
            ("example.org/bob", ""), ("example.com/bob", " --label mine"), ("example.com/alice", ""),
            ("example.com/alice", " --access-group G --protection first-unlock"),
            ("git.example.com/carol", " --class internet --port 22"),
        ] {
            keychain.latchkey("set \(name)\(options)", io: TestIO(input: ["s3cret"]))
        }
    }

    // MARK: list

    @Test("list shows the items sorted by name and group, one line with tabs for each, without secrets")
    func sorted() {
        let time = "2026-11-22T12:00:00Z"
        let expected = """
            example.com/alice\tG\tgeneric\tfirst-unlock\t\(time)\t
            example.com/alice\tlatchkey.shared\tgeneric\tcomplete\t\(time)\t
            example.com/bob\tlatchkey.shared\tgeneric\tcomplete\t\(time)\tmine
            example.org/bob\tlatchkey.shared\tgeneric\tcomplete\t\(time)\t
            git.example.com/carol\tlatchkey.shared\tinternet\tcomplete\t\(time)\t

            """
        #expect(keychain.latchkey("list") == Outcome(exit: 0, output: expected, error: ""))
    }

    @Test("on a terminal, list shows a table with a header and aligned columns")
    func table() {
        let outcome = keychain.latchkey("list example.org", io: TestIO(isErrorInteractive: true))
        let expected = """
            NAME             ACCESS GROUP     CLASS    PROTECTION  MODIFIED
            example.org/bob  latchkey.shared  generic  complete    2026-11-22T12:00:00Z

            """
        #expect(outcome == Outcome(exit: 0, output: expected, error: ""))
    }

    @Test(
        "a list of thousands of items has each one once, in order, on a terminal under one header",
        arguments: [false, true])
    func manyItems(_ isTable: Bool) throws {
        let caller = CallerIdentity(executable: "x", isUserCommand: true)
        for number in 0..<2500 {
            _ = try keychain.service.by(caller).add(
                ItemAddition(
                    .genericPassword, attributes: [.service: .string("many"), .account: .string("\(10_000 + number)")]))
        }
        let outcome = keychain.latchkey("list many", io: TestIO(isErrorInteractive: isTable))
        let names = outcome.output.split(separator: "\n").map { String($0.prefix { $0 != "\t" && $0 != " " }) }
        #expect(outcome.exit == 0 && outcome.error.isEmpty)
        #expect(names == (isTable ? ["NAME"] : []) + (0..<2500).map { "many/\(10_000 + $0)" })
    }

    @Test(
        "a pattern and the options select items", .long,
        arguments: [
            ("example.com", ["example.com/alice", "example.com/alice", "example.com/bob"]),
            ("example.com/alice", ["example.com/alice", "example.com/alice"]),
            ("example.*/b?b", ["example.com/bob", "example.org/bob"]), ("*.com/c*", ["git.example.com/carol"]),
            ("--access-group G", ["example.com/alice"]), ("--group G example.org", []),
            ("--class internet", ["git.example.com/carol"]), ("--port 22", ["git.example.com/carol"]),
            ("--class generic --account bob", ["example.com/bob", "example.org/bob"]),
            ("--label mine", ["example.com/bob"]), ("--label mi*", ["example.com/bob"]), ("--label m?", []),
            ("--label *e*b", []), ("example.com --label ?ine", ["example.com/bob"]),
            ("--service example.org", ["example.org/bob"]),
            ("--server git.example.com", ["git.example.com/carol"]), ("nothing", []),
        ])
    func selects(words: String, names: [String]) {
        let outcome = keychain.latchkey("list \(words)")
        let shown = outcome.output.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
        #expect(outcome.exit == 0 && outcome.error.isEmpty && shown == names, "\(outcome)")
    }

    @Test("--limit and --offset show a part, and the rest is counted on standard error")
    func pages() {
        let first = keychain.latchkey("list --limit 2")
        #expect(first.output.split(separator: "\n").count == 2)
        #expect(first.error == "latchkey: 3 more of 5 items; --offset 2 shows the next\n")
        let last = keychain.latchkey("list --limit 2 --offset 4")
        #expect(last.output.hasPrefix("git.example.com/carol\t") && last.error.isEmpty)
        #expect(keychain.latchkey("list --offset 6") == Outcome(exit: 0, output: "", error: ""))
        #expect(keychain.latchkey("list --offset 9223372036854775807").exit == 0)
        for words in ["--limit 0", "--limit -1", "--offset -1", "--limit x", "--limit 9223372036854775808"] {
            #expect(keychain.latchkey("list \(words)").exit == 2, "\(words)")
        }
    }

    @Test("JSON is an array of the items without secrets, and empty if there are none")
    func json() throws {
        let outcome = keychain.latchkey("list --json")
        #expect(!outcome.output.contains("s3cret"))
        let items = try #require(
            try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
        #expect(items.compactMap { $0["accessGroup"] as? String }.count { $0 == "G" } == 1 && items.count == 5)
        #expect(items.last?["server"] as? String == "git.example.com" && items.last?["port"] as? Int == 22)
        let none = Data(keychain.latchkey("list --json nothing").output.utf8)
        #expect(try JSONSerialization.jsonObject(with: none) as? [String] == [])
    }

    @Test("a part that is given in the pattern and as an option is refused, as is an invalid pattern")
    func badPatterns() {
        #expect(keychain.latchkey("list example.com --service example.com").exit == 2)
        #expect(keychain.latchkey("list a/b --account b").exit == 2)
        #expect(keychain.latchkey("list a/%").exit == 206)
        #expect(keychain.security(["list", ""], as: "latchkey").exit == 206)
    }

    @Test("a hostile name is shown in a form that get accepts")
    func hostileNames() {
        let name = "a/b\n\u{1B}[2J%\u{202E}"
        keychain.security(["add-generic-password", "-a", CommandWord(name), "-s", CommandWord(name), "-w", "hostile"])
        let (service, account) = ("a/b%0A%1B[2J%25%E2%80%AE", "a%2Fb%0A%1B[2J%25%E2%80%AE")
        #expect(keychain.latchkey("list").output.hasPrefix("\(service)/\(account)\t"))
        for name in ["\(service)/\(account)", "\(account)/\(account)"] {
            #expect(keychain.latchkey("get \(name)").output == "hostile")
        }
    }

    // MARK: rm

    @Test("rm asks on a terminal, and deletes after the answer yes or y only", arguments: ["yes", "y"])
    func asks(_ yes: String) {
        let question = "latchkey: example.org/bob in latchkey.shared will be deleted. Continue? (yes/no) "
        for answer in [["no"], ["n"], ["yn"], []] {
            let outcome = keychain.latchkey("rm example.org/bob", io: TestIO(input: answer, answers: []))
            #expect(
                outcome == Outcome(exit: 128, output: "", error: "\(question)latchkey: nothing was changed\n"))
        }
        #expect(keychain.latchkey("get example.org/bob").exit == 0)
        let deleted = keychain.latchkey("rm example.org/bob", io: TestIO(input: [yes], answers: []))
        #expect(
            deleted
                == Outcome(
                    exit: 0, output: "", error: "\(question)latchkey: deleted example.org/bob in latchkey.shared\n"))
        #expect(keychain.latchkey("get example.org/bob").exit == 44)
    }

    @Test("without a terminal, rm requires --force", arguments: ["--force", "-f"])
    func forces(option: String) {
        let refused = keychain.latchkey("rm example.org/bob")
        #expect(refused.exit == 206 && refused.error.contains("\nhint: --force deletes without a question"))
        #expect(keychain.latchkey("get example.org/bob").exit == 0)
        #expect(keychain.latchkey("rm \(option) example.org/bob").exit == 0)
        #expect(keychain.latchkey("get example.org/bob").exit == 44)
    }

    @Test("rm refuses several items, also of equal names in different groups, unless --all is given")
    func several() {
        for words in ["example.com", "example.com/alice", "--label nothing --account x"] {
            let outcome = keychain.latchkey("rm --force \(words)")
            #expect(outcome.exit != 0 && outcome.output.isEmpty, "\(outcome)")
        }
        let refused = keychain.latchkey("rm --force example.com/alice")
        #expect(refused.exit == 206 && refused.error.contains("2 items match 'example.com/alice'\nhint: --all "))
        #expect(refused.error.contains("example.com/alice in latchkey.shared") && refused.error.contains(" in G"))
        #expect(keychain.accounts().count == 5)
        #expect(keychain.latchkey("rm --force --access-group G example.com/alice").exit == 0)
        #expect(keychain.accounts().count == 4)
        let all = keychain.latchkey("rm --force --all example.com")
        #expect(all.error.split(separator: "\n").count == 2, "\(all)")
        #expect(keychain.accounts() == ["bob", "carol"])
    }

    @Test("--dry-run shows the items to delete, and deletes nothing")
    func dryRun() {
        for option in ["--dry-run", "-n"] {
            #expect(
                keychain.latchkey("rm \(option) --all example.com/alice")
                    == Outcome(
                        exit: 0,
                        output: """
                            would delete example.com/alice in latchkey.shared
                            would delete example.com/alice in G

                            """, error: ""))
            #expect(keychain.latchkey("rm \(option) example.com/alice").exit == 206)
        }
        #expect(keychain.accounts().count == 5)
    }

    @Test("rm without a name or a criterion deletes nothing")
    func unnamed() {
        for words in ["", "--all", "--force --all", "--access-group G --force --all"] {
            #expect(keychain.latchkey("rm \(words)").exit == 2, "\(words)")
        }
        #expect(keychain.accounts().count == 5)
    }
}

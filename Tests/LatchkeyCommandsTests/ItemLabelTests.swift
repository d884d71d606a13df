// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@testable import LatchkeyCommands
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// The names of items that clients of the Secret Service have stored, in `latchkey list`, `get` and `rm`.
@Suite("Items with labels")
struct ItemLabelTests {
    private let keychain: TestKeychain

    init() throws { keychain = try TestKeychain(.ephemeral) }

    /// Stores an item as a client of the Secret Service does.
    private func store(
        _ label: String, _ attributes: [(name: String, value: String)], _ secret: String = "s3cret",
        in group: String = AccessGroup.shared.name
    ) throws {
        let addition = ItemAddition(
            try LookupAttributes(attributes), label: label, data: SharedSecret(copying: secret.utf8), contentType: nil,
            replaces: false, accessGroup: group)
        _ = try keychain.service.by(CallerIdentity(executable: "/usr/bin/x", isUserCommand: true)).add(addition)
    }

    private func latchkey(_ words: String...) -> Outcome {
        keychain.security(words.map { CommandWord($0) }, as: "latchkey")
    }

    /// The fields of the lines of `latchkey list`.
    private func list(_ words: String...) -> [[String]] {
        let outcome = keychain.security((["list"] + words).map { CommandWord($0) }, as: "latchkey")
        #expect(outcome.exit == 0 && outcome.error.isEmpty, "\(outcome)")
        return outcome.output.split(separator: "\n").map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
    }

    private func names() -> [String] { list().compactMap(\.first) }

    // MARK: Programs

    @Test("Chromium's key and docker's password have names that a person recognizes, and get and rm take them")
    func programs() throws {
        try store(
            "Chrome Safe Storage",
            [("application", "chrome"), ("xdg:schema", "chrome_libsecret_os_crypt_password_v2")], "key")
        try store(
            "Docker Credentials",
            [
                ("server", "https://index.docker.io/v1/"), ("username", "alice"), ("label", "Docker Credentials"),
                ("docker_cli", "1"), ("xdg:schema", "io.docker.Credentials"),
            ], "token")
        let (chrome, docker) = ("Chrome Safe Storage", "https://index.docker.io/v1//alice")
        let lines = list()
        #expect(lines.map(\.first) == [chrome, docker] && lines.map(\.last) == ["", "Docker Credentials"], "\(lines)")
        for (name, secret) in [(chrome, "key"), ("\(chrome)/", "key"), (docker, "token")] {
            #expect(latchkey("get", name) == Outcome(exit: 0, output: secret, error: ""))
        }
        for (words, found) in [
            (["--label", "*Safe*"], [chrome]), (["--label", "Docker Credentials"], [docker]),
            (["--label", "Docker"], []),
            (["Chrome*"], [chrome]), ([chrome], [chrome]), (["https://*"], [docker]), ([docker], [docker]),
            (["*", "--label", "?ocker*"], [docker]), ([chrome, "--label", chrome], [chrome]),
            ([chrome, "--label", "x"], []),
        ] as [([String], [String])] {
            let outcome = keychain.security((["list"] + words).map { CommandWord($0) }, as: "latchkey")
            let shown = outcome.output.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
            #expect(outcome.exit == 0 && shown == found, "\(words): \(outcome)")
        }
        for name in [chrome, docker] { #expect(latchkey("rm", "--force", name).exit == 0) }
        #expect(list().isEmpty)
    }

    @Test("JSON has the name and the label, and names the protection class beside its code")
    func json() throws {
        try store("Chrome Safe Storage", [("application", "chrome")])
        let output = latchkey("list", "--json").output
        let items = try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [[String: Any]])
        let item = try #require(items.first)
        #expect(item["name"] as? String == "Chrome Safe Storage" && item["label"] as? String == "Chrome Safe Storage")
        #expect(item["service"] as? String == "" && item["account"] as? String == "")
        #expect(item["protection"] as? String == "ak" && item["protectionName"] as? String == "complete")
    }

    @Test("On a terminal, a long name moves its own line only, and labels are a column if there are any")
    func table() throws {
        let long = String(repeating: "n", count: 10_000)
        for (service, label) in [("a", "Alice's"), ("b", "b")] {
            try store(label, [("service", service), ("username", "u")])
        }
        try store(long, [("application", "x")])
        let outcome = keychain.latchkey("list", io: TestIO(isErrorInteractive: true))
        let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let header = try #require(lines.first)
        let place = header.distance(from: header.startIndex, to: try #require(header.range(of: "ACCESS")).lowerBound)
        #expect(lines[0].hasSuffix("  LABEL") && lines[0].count < 160)
        #expect(lines[1].hasSuffix("Z  Alice's") && lines[2].hasSuffix("Z") && lines[3].hasPrefix("\(long)  latchkey"))
        #expect(lines[1].dropFirst(place).hasPrefix("latchkey.shared"))
    }

    // MARK: Equal names

    @Test("Of several items with the same label, get and rm name each, and take none for another")
    func sameLabel() throws {
        let label = "Chromium Safe Storage"
        for name in ["chromium", "Code", "Slack"] { try store(label, [("application", name)], name) }
        try store(label, [("application", "elsewhere")], "elsewhere", in: "G")
        #expect(names() == [label, label, "\(label)/(2)", "\(label)/(3)"])
        for words in [["get"], ["rm", "--force"]] {
            let outcome = keychain.security((words + [label]).map { CommandWord($0) }, as: "latchkey")
            #expect(outcome.exit == 206 && outcome.output.isEmpty, "\(outcome)")
            for name in ["'\(label)/' in latchkey.shared", "'\(label)/(2)' in ", "'\(label)/(3)' in "] {
                #expect(outcome.error.contains(name), "\(outcome)")
            }
        }
        #expect(list().count == 4)
        #expect(latchkey("get", "\(label)/(2)").output == "Code")
        #expect(latchkey("get", "\(label)/").output == "chromium")
        let both = latchkey("rm", "--force", "\(label)/")
        #expect(both.exit == 206 && both.error.contains("'\(label)/' in G"), "\(both)")
        #expect(latchkey("rm", "--force", "--access-group", "latchkey.shared", "\(label)/").exit == 0)
        #expect(names() == [label, "\(label)/(2)", "\(label)/(3)"])
        #expect(latchkey("get", label).exit == 206, "the group of new items comes first, and has two")
        #expect(latchkey("rm", "--force", "--all", label).exit == 0)
        #expect(list().isEmpty)
    }

    @Test("The label of an item never takes the place of a service: get finds the service, and rm lists both")
    func labelOfAnotherService() throws {
        keychain.latchkey("set Mail/alice", io: TestIO(input: ["of the service"]))
        try store("Mail", [("username", "alice")], "of the label")
        #expect(names() == ["Mail/alice", "Mail/alice"])
        #expect(latchkey("get", "Mail/alice").output == "of the service")
        for name in ["Mail/alice", "Mail"] {
            let refused = latchkey("rm", "--force", name)
            #expect(refused.exit == 206 && refused.error.hasPrefix("latchkey: 2 items match '\(name)'\n"), "\(refused)")
            for options in ["--service Mail --account alice", "--service '' --label Mail --account alice"] {
                #expect(refused.error.contains("\(options) in latchkey.shared"), "\(refused)")
            }
        }
        #expect(latchkey("get", "Mail").exit == 206)
        #expect(latchkey("rm", "--force", "--service", "", "--label", "Mail", "--account", "alice").exit == 0)
        #expect(latchkey("get", "Mail").output == "of the service")
        #expect(latchkey("rm", "--force", "Mail/alice").exit == 0 && list().isEmpty)
    }

    @Test("The label of a generic password never takes the place of a server")
    func labelOfAnotherServer() throws {
        keychain.latchkey("set --server Mail --account alice", io: TestIO(input: ["of the server"]))
        try store("Mail", [("username", "alice")], "of the label")
        #expect(latchkey("get", "Mail/alice").output == "of the server")
        let ambiguous = latchkey("get", "Mail")
        #expect(ambiguous.exit == 206 && ambiguous.error.hasPrefix("latchkey: 2 items match 'Mail'\n"), "\(ambiguous)")
        #expect(latchkey("rm", "--force", "--server", "Mail", "--account", "alice").exit == 0)
        #expect(latchkey("get", "Mail/alice").output == "of the label")
        #expect(latchkey("get", "Mail").output == "of the label")
    }

    // MARK: Unusual names

    @Test("With any label, get and rm take the name in the list")
    func hostileLabels() throws {
        let labels = [
            "a/b", "https://example.com/x/", "/", "-x", "a\n\u{1B}[2J\tb", "\u{202E}moc.elpmaxe", "100% ", "*?",
            "it's $(x)",
            "\u{301}", String(repeating: "x/", count: 5000),
        ]
        for (number, label) in labels.enumerated() {
            try store(label, [("application", "\(number)")], "secret \(number)")
        }
        for name in names() {
            let controls: Set<Unicode.GeneralCategory> = [.control, .format]
            #expect(name.unicodeScalars.allSatisfy { !controls.contains($0.properties.generalCategory) })
            let got = latchkey("get", name)
            let number = try #require(got.output.split(separator: " ").last.flatMap { Int($0) }, "\(got)")
            #expect(latchkey("get", name, "--attribute", "name").output == "\(name)\n")
            // swift-argument-parser does not see the = before a mark that combines with it.
            let label = number == 9 ? ["--label", labels[number]] : ["--label=\(labels[number])"]
            let labelled = keychain.security((["get", name] + label).map { CommandWord($0) }, as: "latchkey")
            #expect(labelled.output == got.output)
            let count = list().count
            #expect(latchkey("rm", "--force", name).exit == 0)
            #expect(list().count == count - 1 && latchkey("get", name).exit == 44)
        }
        #expect(list().isEmpty)
    }

    @Test("An item with neither a service nor a label has a slash first; no other item has its name")
    func unnamed() throws {
        try store("", [("application", "x")], "nothing")
        try store("", [("username", "alice")], "account")
        try store("Label", [("application", "y")], "label")
        #expect(names() == ["/", "/alice", "Label/(2)"])
        #expect(latchkey("get", "/").output == "nothing" && latchkey("get", "/alice").output == "account")
        #expect(latchkey("get", "/(2)").exit == 44, "it has a label")
        #expect(latchkey("rm", "--force", "/(2)").exit == 44)
        for name in ["/alice", "/"] { #expect(latchkey("rm", "--force", name).exit == 0) }
        #expect(names() == ["Label/(2)"])
    }

    @Test("An internet password without a server has its label in this place")
    func internet() throws {
        try store("Mail", [("xdg:schema", "org.gnome.keyring.NetworkPassword"), ("user", "carol")], "s3cret")
        #expect(list().map { [$0[0], $0[2]] } == [["Mail/carol", "internet"]])
        #expect(latchkey("get", "Mail/carol").output == "s3cret" && latchkey("get", "Mail").output == "s3cret")
        #expect(latchkey("get", "Mail/carol", "--class", "generic").exit == 44)
        #expect(latchkey("rm", "--force", "Mail").exit == 0 && list().isEmpty)
    }

    @Test("A locked item is neither read nor deleted by its label")
    func locked() throws {
        try keychain.service.administrator.setPasscode(SharedSecret(copying: "the passcode".utf8)) { _, _ in }
        try store("Chrome Safe Storage", [("application", "chrome")])
        try keychain.service.administrator.lock(immediately: true)
        for words in [["get"], ["rm", "--force"]] {
            let outcome = keychain.security((words + ["Chrome Safe Storage"]).map { CommandWord($0) }, as: "latchkey")
            #expect(outcome.exit == 36 && outcome.output.isEmpty, "\(outcome)")
        }
        let listed = latchkey("list", "Chrome*")
        #expect(listed.exit == 0 && listed.output.isEmpty && listed.error.contains("locked items are not shown"))
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@testable import LatchkeyCommands
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// `latchkey set`, `get` and `generate`.
@Suite("Daily commands")
struct DailyCommandTests {
    let keychain: TestKeychain

    init() throws {
        keychain = try TestKeychain(.ephemeral)
    }

    // MARK: set

    @Test(
        "set stores all of a pipe without one final line end, and get writes it byte for byte",
        arguments: [
            (["s3cret"], "", "s3cret"), (["s3cret", ""], "", "s3cret"), (["s3cret", "", ""], "", "s3cret\n"),
            (["a", "b", ""], "", "a\nb"), (["s3cret", ""], " --raw", "s3cret\n"),
            (["\u{0}\u{1B}", "x"], "", "\u{0}\u{1B}\nx"), (["s3cret", ""], " --secret-file -", "s3cret"),
        ])
    func pipe(input: [String], options: String, secret: String) {
        let set = keychain.latchkey("set example.com/alice\(options)", io: TestIO(input: input))
        #expect(
            set == Outcome(exit: 0, output: "", error: "latchkey: added example.com/alice in latchkey.shared\n"))
        #expect(keychain.latchkey("get example.com/alice") == Outcome(exit: 0, output: secret, error: ""))
    }

    @Test("set and get use the same items as macOS's commands, and the service is the label")
    func sameItems() {
        keychain.latchkey("set example.com/alice", io: TestIO(input: ["s3cret"]))
        #expect(
            keychain.security("find-generic-password -s example.com -a alice -l example.com -w").output == "s3cret\n")
        keychain.security("add-generic-password -s example.org -a bob -w other")
        #expect(keychain.latchkey("get example.org/bob").output == "other")
    }

    @Test("set prompts twice on a terminal; different answers and the end of input store nothing")
    func prompts() {
        let set = keychain.latchkey("set a/b", io: TestIO(answers: ["pw 1", "pw 1"]))
        #expect(
            set
                == Outcome(
                    exit: 0, output: "", error: "secret: \nrepeat it: \nlatchkey: added a/b in latchkey.shared\n"))
        #expect(keychain.latchkey("get a/b").output == "pw 1")
        let differing = keychain.latchkey("set a/c", io: TestIO(answers: ["one", "two"]))
        #expect(differing.exit == 206 && differing.error.contains("the two secrets differ; nothing was changed"))
        #expect(keychain.latchkey("set a/c", io: TestIO(answers: [nil])).exit == 128)
        #expect(keychain.accounts() == ["b"])
    }

    @Test("after latchkey -i, the next line is the secret of set")
    func interactiveMode() {
        let io = TestIO(input: ["set a/b", "the secret", "get a/b"])
        #expect(
            keychain.latchkey("-i", io: io)
                == Outcome(exit: 0, output: "the secret", error: "latchkey: added a/b in latchkey.shared\n"))
    }

    @Test("set takes the secret from no argument, and does not print the word")
    func argument() {
        for line in [
            "set a/b s3cret", "set a/b --raw s3cret more", "set --service a --account b x s3cret", "set a/b -s3cret",
            "set a/b --s3cret", "set a/b --s3cret=x", "set a/b -- -s3cret", "set a/b -fs3cret", "set -s3cret a/b",
        ] {
            let outcome = keychain.latchkey(line, io: TestIO(input: ["x"]))
            #expect(outcome.exit == 2 && outcome.error.contains("a secret is never an argument"), "\(outcome)")
            #expect(!outcome.error.contains("s3cret"))
        }
        #expect(keychain.accounts().isEmpty)
    }

    @Test("set reads --secret-file; an empty pipe, an empty file and a missing file store nothing")
    func files() throws {
        let directory = try TemporaryDirectory()
        try Data("from a file\n".utf8).write(to: URL(filePath: "\(directory.path)/file"))
        try Data().write(to: URL(filePath: "\(directory.path)/empty"))
        #expect(keychain.latchkey("set a/b --secret-file \(directory.path)/file").exit == 0)
        #expect(keychain.latchkey("get a/b").output == "from a file")
        #expect(keychain.latchkey("set --raw -f a/b --secret-file \(directory.path)/file").exit == 0)
        #expect(keychain.latchkey("get a/b").output == "from a file\n")
        let empty = keychain.latchkey("set a/c --secret-file \(directory.path)/empty")
        #expect(empty.exit == 206 && empty.error.contains("the secret is empty; nothing was stored"))
        #expect(keychain.latchkey("set a/c --secret-file \(directory.path)/missing").exit == 220)
        // `echo "$UNSET"` prints a line end only.
        try Data("\n".utf8).write(to: URL(filePath: "\(directory.path)/line"))
        for outcome in [
            keychain.latchkey("set a/c"), keychain.latchkey("set a/c", io: TestIO(input: [""])),
            keychain.latchkey("set a/c", io: TestIO(answers: ["", ""])),
            keychain.latchkey("set a/c --secret-file \(directory.path)/line"),
            keychain.latchkey("set a/b --update", io: TestIO(input: [""])),
        ] {
            #expect(outcome.exit == 206, "\(outcome)")
            #expect(outcome.error.contains("\nhint: printf %s \"$SECRET\" | latchkey set "), "\(outcome)")
        }
        #expect(keychain.latchkey("get a/b").output == "from a file\n")
        #expect(keychain.accounts() == ["b"])
    }

    @Test("without a terminal, set of an existing item exits with 45 and changes nothing")
    func duplicate() {
        keychain.latchkey("set a/b", io: TestIO(input: ["one"]))
        let text = """
            latchkey: the item 'a/b' already exists in latchkey.shared
            hint: --update replaces its secret

            """
        #expect(
            keychain.latchkey("set a/b", io: TestIO(input: ["two"])) == Outcome(exit: 45, output: "", error: text))
        #expect(keychain.latchkey("get a/b").output == "one")
    }

    @Test(
        "--update, --force and -f replace the secret, and keep the other attributes", .long,
        arguments: ["--update", "--force", "-f"])
    func update(option: String) throws {
        keychain.latchkey("set a/b --label mine --comment note --protection first-unlock", io: TestIO(input: ["one"]))
        let set = keychain.latchkey("set a/b \(option)", io: TestIO(input: ["two"]))
        #expect(set == Outcome(exit: 0, output: "", error: "latchkey: updated a/b in latchkey.shared\n"))
        #expect(keychain.latchkey("get a/b").output == "two")
        for (name, value) in [("label", "mine"), ("comment", "note"), ("protection", "first-unlock")] {
            #expect(keychain.latchkey("get a/b --attribute \(name)").output == "\(value)\n")
        }
        keychain.latchkey("set a/b \(option) --protection complete --label other", io: TestIO(input: ["three"]))
        #expect(keychain.latchkey("get a/b --attribute protection").output == "complete\n")
        #expect(keychain.latchkey("get --label other").output == "three")
        #expect(keychain.latchkey("set c/d \(option)", io: TestIO(input: ["new"])).error.contains("added c/d"))
    }

    @Test("on a terminal, set asks before it replaces an item, after it has read the secret")
    func asks() {
        keychain.latchkey("set a/b", io: TestIO(input: ["one"]))
        let question = "latchkey: 'a/b' already exists in latchkey.shared. Replace its secret? (yes/no) "
        let prompts = "secret: \nrepeat it: \n"
        for answer in [["no"], ["n"], [""], []] {
            let outcome = keychain.latchkey("set a/b", io: TestIO(input: answer, answers: ["two", "two"]))
            #expect(
                outcome
                    == Outcome(
                        exit: 128, output: "", error: "\(prompts)\(question)latchkey: nothing was changed\n"))
        }
        #expect(keychain.latchkey("get a/b").output == "one")
        let replaced = keychain.latchkey("set a/b", io: TestIO(input: ["yes"], answers: ["two", "two"]))
        #expect(replaced.exit == 0 && replaced.error.hasPrefix("\(prompts)\(question)"))
        #expect(keychain.latchkey("get a/b").output == "two")
    }

    @Test("set prints the stored item as JSON, without the secret")
    func setJSON() throws {
        let words = "set --json a%2Fb/c --comment note --access-group G --protection aku"
        let outcome = keychain.latchkey(words, io: TestIO(input: ["s3cret"]))
        #expect(!outcome.output.contains("s3cret"))
        let report = try Self.json(outcome)
        #expect(report["action"] as? String == "added")
        let item = try #require(report["item"] as? [String: Any])
        let expected = [
            "name": "a/b/c", "class": "generic", "service": "a/b", "account": "c", "label": "a/b", "comment": "note",
            "accessGroup": "G", "protection": "aku", "protectionName": "complete-this-device",
            "created": "2026-11-22T12:00:00Z",
            "modified": "2026-11-22T12:00:00Z",
        ]
        for (key, value) in expected { #expect(item[key] as? String == value, "\(key)") }
        #expect(item["synchronizable"] as? Bool == false)
        let updated = keychain.latchkey("set --json a%2Fb/c --group G --update", io: TestIO(input: ["x"]))
        #expect(try Self.json(updated)["action"] as? String == "updated")
    }

    @Test(
        "set requires a service and an account, and names a missing or a repeated part",
        arguments: [
            ("set", 2, "name an item"), ("set example.com", 206, "the account is missing in 'example.com'"),
            ("set --account a", 206, "the service is missing"),
            ("set a/b --account c", 2, "the account is given twice"),
            ("set a/b --service c", 2, "the service is given twice"), ("set /a", 206, "the service in the name"),
            ("set a/", 206, "the account in the name"),
            ("set a/b --protection sometimes", 206, "unknown protection class"),
            ("set a/b --server x", 2, "the server is given twice"),
            ("set a/b --class generic --port 1", 2, "--class internet"),
            ("set --service a --account b --port 1", 2, "use --server"),
            ("set a/b --protocol toolong", 2, "--protocol"),
            ("set a/b --port 65536", 2, "--port"), ("set a/b --nonsense", 2, "an option is unknown"),
        ])
    func badWords(line: String, exit: Int32, problem: String) {
        let outcome = keychain.latchkey(line, io: TestIO(input: ["x"]))
        #expect(outcome.exit == exit && outcome.output.isEmpty && outcome.error.contains(problem), "\(outcome)")
        #expect(keychain.accounts().isEmpty)
    }

    @Test("options name parts with slashes and empty parts")
    func flags() {
        keychain.latchkey("set --service https://example.com/ --account a/b", io: TestIO(input: ["slashes"]))
        #expect(keychain.latchkey("get https:%2F%2Fexample.com%2F/a%2Fb").output == "slashes")
        #expect(keychain.latchkey("get https:%2F%2Fexample.com%2F --account a/b").output == "slashes")
        let words: [CommandWord] = ["set", "--service", "s", "--account", ""]
        #expect(keychain.security(words, as: "latchkey", io: TestIO(input: ["no account"])).exit == 0)
        #expect(keychain.security(["get", "s", "--account", ""], as: "latchkey").output == "no account")
    }

    @Test("an internet password is addressed by server and account, and by protocol, port and path")
    func internet() throws {
        let set = "set --server example.com --account alice"
        #expect(keychain.latchkey(set, io: TestIO(input: ["plain"])).exit == 0)
        #expect(keychain.latchkey("\(set) --protocol https --port 443", io: TestIO(input: ["tls"])).exit == 0)
        // The key without a port is another one.
        #expect(keychain.latchkey("\(set) -f", io: TestIO(input: ["plain 2"])).error.contains("updated"))
        #expect(keychain.latchkey("get --class internet example.com/alice --port 443").output == "tls")
        #expect(keychain.security("find-internet-password -s example.com -r htps -w").output == "tls\n")
        #expect(keychain.latchkey("get example.com/alice --protocol https --attribute port").output == "443\n")
        let several = keychain.latchkey("get --class internet example.com/alice")
        #expect(several.exit == 206 && several.error.contains("2 items match 'example.com/alice'"))
        #expect(keychain.latchkey("get --server example.com --account alice --port 0").output == "plain 2")
        // A generic password is another item, and comes first; rm takes neither for the other.
        #expect(keychain.latchkey("get example.com/alice --class generic").exit == 44)
        keychain.latchkey("rm --force --server example.com --account alice --port 443")
        #expect(keychain.latchkey("get example.com/alice").output == "plain 2")
        keychain.latchkey("set example.com/alice", io: TestIO(input: ["generic"]))
        #expect(keychain.latchkey("get example.com/alice").output == "generic")
        for words in ["", "--all "] {
            let refused = keychain.latchkey("rm --force \(words)example.com/alice")
            #expect(refused.exit == 206 && refused.output.isEmpty, "\(refused)")
            let names = [" --class generic in latchkey.shared", " --class internet in latchkey.shared"]
            for name in names { #expect(refused.error.contains("example.com/alice\(name)"), "\(refused)") }
        }
        #expect(keychain.latchkey("rm --force example.com/alice --class internet").exit == 0)
        #expect(keychain.latchkey("get example.com/alice").output == "generic")
    }

    // MARK: get

    @Test("on a terminal, get masks the secret and shows how to get it; -q omits the hint")
    func masks() {
        keychain.latchkey("set a/b", io: TestIO(input: ["s3cret"]))
        let hint = "hint: --reveal shows the secret; to copy it: latchkey copy a/b\n"
        #expect(
            keychain.latchkey("get a/b", io: TestIO(isErrorInteractive: true))
                == Outcome(exit: 0, output: "********\n", error: hint))
        #expect(
            keychain.latchkey("-q get a/b", io: TestIO(isErrorInteractive: true))
                == Outcome(exit: 0, output: "********\n", error: ""))
    }

    @Test("--reveal shows a secret on a terminal on a line of its own", arguments: ["s3cret", "s3cret\n", "a\nb\tö"])
    func reveals(secret: String) {
        keychain.latchkey("set a/b --raw", io: TestIO(input: [secret]))
        let shown = secret.hasSuffix("\n") ? secret : secret + "\n"
        #expect(
            keychain.latchkey("get --reveal a/b", io: TestIO(isErrorInteractive: true))
                == Outcome(exit: 0, output: shown, error: ""))
        #expect(keychain.latchkey("get --reveal a/b").output == secret)
    }

    @Test(
        "a secret that a terminal would obey is not shown there, but is written to a pipe",
        arguments: [[0x1B, 0x5B, 0x32, 0x4A], [0x00], [0xFF], [0xE2, 0x80, 0xAE], [0x0D]] as [[UInt8]])
    func controls(secret: [UInt8]) {
        keychain.security(["add-generic-password", "-a", "b", "-s", "a", "-w", CommandWord(bytes: secret)])
        let terminal = TestIO(isErrorInteractive: true)
        let outcome = keychain.latchkey("get --reveal a/b", io: terminal)
        #expect(outcome.exit == 206 && terminal.output.isEmpty && outcome.error.contains("not shown on a terminal"))
        let pipe = TestIO()
        #expect(keychain.latchkey("get a/b", io: pipe).exit == 0 && pipe.output == secret)
    }

    @Test("JSON has the secret only with --reveal: as text if it is UTF-8, otherwise in base64")
    func getJSON() throws {
        let text = "\"back\\slash\"\n\u{1B}ö\u{202E}\u{1F600}\u{E0001}"
        keychain.security(["add-generic-password", "-a", "text", "-s", "a", "-w", CommandWord(text)])
        keychain.security(["add-generic-password", "-a", "data", "-s", "a", "-w", CommandWord(bytes: [0xFF, 0, 1, 2])])
        let masked = keychain.latchkey("get --json a/text")
        #expect(!masked.output.contains("secret") && !masked.output.contains("slash"))
        let shown = keychain.latchkey("get --json --reveal a/text")
        #expect(try Self.json(shown)["secret"] as? String == text)
        #expect(try Self.json(shown)["name"] as? String == "a/text")
        #expect(shown.output.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
        let data = try Self.json(keychain.latchkey("get --json --reveal a/data"))
        #expect(data["secretBase64"] as? String == "/wABAg==" && data["secret"] == nil)
    }

    @Test("--attribute prints one attribute; one that is not set is refused by name")
    func attributes() {
        keychain.latchkey("set a/b --label x", io: TestIO(input: ["s3cret"]))
        for (name, value) in [
            ("name", "a/b"), ("service", "a"), ("account", "b"), ("label", "x"), ("class", "generic"),
            ("access-group", "latchkey.shared"), ("protection", "complete"), ("created", "2026-11-22T12:00:00Z"),
        ] {
            #expect(
                keychain.latchkey("get a/b --attribute \(name)") == Outcome(exit: 0, output: "\(value)\n", error: ""))
        }
        let unset = keychain.latchkey("get a/b --attribute comment")
        #expect(unset.exit == 41 && unset.error.hasPrefix("latchkey: the item 'a/b' has no comment\nhint: "))
        #expect(keychain.latchkey("get a/b --attribute secret").exit == 2)
        #expect(keychain.latchkey("get a/b --attribute label --json").exit == 2)
    }

    @Test("a missing item exits with 44, with the words that programs search for")
    func missing() {
        let text = "latchkey: the item 'a/b' could not be found\nhint: latchkey list shows the items\n"
        for line in ["get a/b", "get --json a/b", "rm a/b", "rm -f --all a/b"] {
            #expect(keychain.latchkey(line) == Outcome(exit: 44, output: "", error: text), "\(line)")
        }
        #expect(security("get a/b", as: "latchkey", on: DamagedService()).error.contains("the item 'a/b' is damaged"))
    }

    @Test(
        "a damaged item is reported as such; no item of another group stands for it, and set --update replaces it",
        arguments: ["metadata", "secret"])
    func damaged(column: String) throws {
        let keychain = try TestKeychain(.onDisk)
        keychain.latchkey("set a/b", io: TestIO(input: ["one"]))
        keychain.latchkey("set --access-group other a/b", io: TestIO(input: ["two"]))
        try #require(keychain.directory).runSQL("UPDATE item SET \(column) = zeroblob(200) WHERE id = 1")
        let get = keychain.latchkey("get a/b")
        #expect(get.exit == 93 && get.output.isEmpty, "\(get)")
        #expect(get.error.contains(" is damaged\nhint: latchkey doctor"), "\(get)")
        let find = keychain.security("find-generic-password -s a -a b -w")
        #expect(find.exit != 0 && find.output.isEmpty, "\(find)")
        #expect(keychain.latchkey("get --access-group other a/b").output == "two")
        #expect(keychain.latchkey("set --update a/b", io: TestIO(input: ["three"])).exit == 0)
        #expect(keychain.latchkey("get --access-group latchkey.shared a/b").output == "three")
    }

    @Test("a label never stands for a damaged item, with an account or without")
    func damagedBesideLabel() throws {
        let keychain = try TestKeychain(.onDisk)
        keychain.latchkey("set a/b", io: TestIO(input: ["of the service"]))
        let labelled = ["set", "--service", "", "--account", "b", "--label", "a"].map { CommandWord($0) }
        let added = keychain.security(labelled, as: "latchkey", io: TestIO(input: ["of the label"]))
        #expect(added.exit == 0, "\(added)")
        try #require(keychain.directory).runSQL("UPDATE item SET metadata = zeroblob(200) WHERE id = 1")
        for name in ["a/b", "a"] {
            let get = keychain.latchkey("get \(name)")
            #expect(get.exit == 93 && get.output.isEmpty, "\(get)")
            #expect(get.error.contains("the item '\(name)' is damaged\nhint: "), "\(get)")
        }
    }

    @Test("set and generate replace a synchronized item instead of adding a second one")
    func synchronized() throws {
        let addition = ItemAddition(
            .genericPassword, attributes: [.service: .string("a"), .account: .string("b")],
            secrets: ItemSecrets(data: SharedSecret(copying: "one".utf8)), accessGroup: "latchkey.shared",
            isSynchronizable: true)
        let caller = CallerIdentity(executable: "/usr/bin/latchkey", declaredGroups: nil, isUserCommand: true)
        _ = try keychain.service.by(caller).add(addition)
        #expect(keychain.latchkey("set a/b", io: TestIO(input: ["two"])).exit == 45)
        #expect(keychain.latchkey("set --update a/b", io: TestIO(input: ["two"])).error.contains("updated a/b"))
        #expect(keychain.latchkey("get a/b").output == "two")
        #expect(keychain.latchkey("generate --update a/b").error.contains("updated a/b"))
        #expect(keychain.accounts() == ["b"])
    }

    @Test("a service is sufficient if it has one account; several items are refused by name")
    func ambiguous() {
        keychain.latchkey("set example.com/alice", io: TestIO(input: ["one"]))
        #expect(keychain.latchkey("get example.com").output == "one")
        keychain.latchkey("set example.com/bob", io: TestIO(input: ["two"]))
        let two = keychain.latchkey("get example.com")
        #expect(two.exit == 206 && two.output.isEmpty)
        #expect(two.error.hasPrefix("latchkey: 2 items match 'example.com'\nhint: name one of them"))
        #expect(
            two.error.contains("example.com/alice in latchkey.shared, example.com/bob in latchkey.shared\n"),
            "\(two.error)")
        for number in 1...5 { keychain.latchkey("set example.com/\(number)", io: TestIO(input: ["x"])) }
        #expect(keychain.latchkey("get example.com").error.contains("more than 5 items match"))
    }

    @Test("get prefers the item in the command's own group to another program's, as macOS's commands do")
    func ownGroupFirst() {
        keychain.latchkey("set a/b --access-group X", io: TestIO(input: ["other"]))
        #expect(keychain.latchkey("get a/b").output == "other")
        keychain.latchkey("set a/b", io: TestIO(input: ["mine"]))
        #expect(keychain.latchkey("get a/b").output == "mine")
        #expect(keychain.latchkey("get a/b --group X").output == "other")
        #expect(keychain.latchkey("get a/b --group Y").exit == 44)
    }

    // MARK: generate

    @Test("generate stores a random secret, states its entropy, and prints it only with --reveal")
    func generates() throws {
        let outcome = keychain.latchkey("generate a/b")
        #expect(outcome.exit == 0 && outcome.output.isEmpty)
        #expect(
            outcome.error == "latchkey: added a/b in latchkey.shared: ******** (24 characters, 142 bits of entropy)\n")
        let secret = keychain.latchkey("get a/b").output
        #expect(secret.utf8.count == 24 && secret.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
        let shown = keychain.latchkey("generate a/b --update --reveal --symbols --length 32")
        #expect(shown.output == keychain.latchkey("get a/b").output && shown.output.utf8.count == 32)
        #expect(shown.error.hasPrefix("latchkey: updated a/b") && shown.error.contains("(32 characters, 207 bits"))
        #expect(keychain.latchkey("generate a/c --reveal", io: TestIO(isErrorInteractive: true)).output.hasSuffix("\n"))
    }

    @Test("an existing item is replaced by generate only with --update or after a question")
    func generateExisting() {
        keychain.latchkey("set a/b", io: TestIO(input: ["one"]))
        #expect(keychain.latchkey("generate a/b").exit == 45)
        #expect(keychain.latchkey("generate a/b", io: TestIO(input: ["no"], answers: [])).exit == 128)
        #expect(keychain.latchkey("get a/b").output == "one")
        #expect(keychain.latchkey("generate a/b", io: TestIO(input: ["yes"], answers: [])).exit == 0)
        #expect(keychain.latchkey("get a/b").output != "one")
    }

    @Test("a short secret is generated with a hint; JSON has the entropy")
    func weak() throws {
        let outcome = keychain.latchkey("generate card/pin --alphabet 0123456789 --length 6")
        #expect(outcome.exit == 0 && outcome.error.contains("(6 characters, 19 bits of entropy)\nhint: fewer than 64"))
        #expect(keychain.latchkey("get card/pin").output.allSatisfy { $0.isNumber })
        let report = try Self.json(keychain.latchkey("generate x/y --json"))
        #expect(report["entropyBits"] as? Int == 142 && report["length"] as? Int == 24 && report["secret"] == nil)
        let shown = try Self.json(keychain.latchkey("generate x/z --json --reveal"))
        #expect(shown["secret"] as? String == keychain.latchkey("get x/z").output)
    }

    @Test(
        "lengths and alphabets outside of their bounds are refused, and nothing is stored",
        arguments: [
            ("--length 0", 2), ("--length 1025", 2), ("--length -1", 2), ("--alphabet a", 206), ("--alphabet aa", 206),
            ("--alphabet ab --symbols", 2),
        ])
    func bounds(options: String, exit: Int32) {
        #expect(keychain.latchkey("generate a/b \(options)").exit == exit)
        #expect(keychain.accounts().isEmpty)
    }

    /// Returns the JSON object that a command has printed.
    static func json(_ outcome: Outcome) throws -> [String: Any] {
        #expect(outcome.exit == 0, "\(outcome)")
        return try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    }
}

// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import LatchkeyCommands
import Testing

/// The access lists that `-A`, `-T` and the partition-list commands record, and `dump-keychain -a` shows
/// (keychain-behaviour §8.2, §8.3).
@Suite("Access lists of commands")
struct AccessListCommandTests {
    private let keychain: TestKeychain

    init() throws {
        keychain = try TestKeychain(.ephemeral)
    }

    /// Returns the access lists that `dump-keychain -a` prints after the attributes of each item.
    private func lists() -> [String] {
        var lists: [String] = []
        var isInList = false
        for line in keychain.security("dump-keychain -a").output.split(separator: "\n") {
            if line.hasPrefix("keychain: ") { isInList = false }
            if line.hasPrefix("access: ") {
                isInList = true
                lists.append("")
            }
            if isInList { lists[lists.count - 1] += "\(line)\n" }
        }
        return lists
    }

    private static let none = "access: 0 entries\n"

    private static func entry(_ number: Int, _ authorizations: String, _ description: String, _ programs: String)
        -> String
    {
        """
            entry \(number):
                authorizations \(authorizations)
                don't-require-password
                description: \(description)
                applications\(programs)

        """
    }

    private static func programs(_ description: String, _ programs: String) -> String {
        entry(0, "(6): decrypt derive export_clear export_wrapped mac sign", description, programs)
    }

    private static func partitions(_ number: Int, _ partitions: String) -> String {
        entry(number, "(1): partition_id", partitions, ": <null>")
    }

    static let options: [([CommandWord], String)] = [
        (["-T", "/usr/bin/codesign"], " (1):\n            0: /usr/bin/codesign"),
        (["-T", "/opt/a b", "-T", "../x"], " (2):\n            0: /opt/a b\n            1: ../x"),
        (["-A"], ": <null>"),
        (["-T", "/usr/bin/x", "-A"], ": <null>"),
        (["-T", ""], " (0):"),
        (["-T", "", "-T", "/usr/bin/x"], " (1):\n            0: /usr/bin/x"),
    ]

    @Test(
        "-A and -T are kept with a password and shown with its label; its block does not change",
        arguments: options, ["generic", "internet"])
    func passwords(_ option: ([CommandWord], String), _ kind: String) {
        let (words, programs) = option
        let add: [CommandWord] = [
            CommandWord("add-\(kind)-password"), "-a", "a", "-s", "s", "-l", "My label", "-w", "x",
        ]
        #expect(keychain.security(add + words) == Outcome(exit: 0, output: "", error: ""))
        #expect(lists() == ["access: 1 entries\n" + Self.programs("My label", programs)])
        let block = keychain.security("find-\(kind)-password -a a").output
        #expect(keychain.security("dump-keychain").output == block)
        #expect(!block.contains("codesign"))
    }

    @Test("Without -A and -T nothing is recorded; -U keeps the list, or replaces it if one is given")
    func updates() {
        keychain.security("add-generic-password -a a -s s -w x")
        #expect(lists() == [Self.none])
        keychain.security("add-generic-password -a a -s s -T /usr/bin/x -U")
        let first = "access: 1 entries\n" + Self.programs("s", " (1):\n            0: /usr/bin/x")
        #expect(lists() == [first])
        keychain.security("add-generic-password -a a -s s -w y -U")
        #expect(lists() == [first])
        keychain.security("add-generic-password -a a -s s -A -U")
        #expect(lists() == ["access: 1 entries\n" + Self.programs("s", ": <null>")])
    }

    @Test("A partition list is set on every matching password, silently, and leaves the programs as they are")
    func passwordPartitions() {
        keychain.security("add-generic-password -a a -s s -w x -T /usr/bin/x")
        keychain.security("add-generic-password -a b -s s -w x")
        keychain.security("add-generic-password -a c -s other -w x")
        keychain.security("add-internet-password -a d -s s -w x")
        let silent = Outcome(exit: 0, output: "", error: "")
        #expect(
            keychain.security("set-generic-password-partition-list -S apple-tool:,apple: -s s -k pw") == silent)
        let programs = Self.programs("s", " (1):\n            0: /usr/bin/x")
        #expect(
            lists() == [
                "access: 2 entries\n" + programs + Self.partitions(1, "apple-tool:, apple:"),
                "access: 1 entries\n" + Self.partitions(0, "apple-tool:, apple:"), Self.none, Self.none,
            ])
        #expect(keychain.security("set-internet-password-partition-list -S teamid:X -a d") == silent)
        #expect(lists().last == "access: 1 entries\n" + Self.partitions(0, "teamid:X"))
        #expect(keychain.security(["set-generic-password-partition-list", "-S", "", "-s", "s"]) == silent)
        #expect(lists().prefix(3) == ["access: 1 entries\n" + programs, Self.none, Self.none])
        #expect(keychain.security("find-generic-password -a a -w").output == "x\n")
    }

    @Test("-T and partition lists are kept with the keys of a new pair; the changed keys are printed")
    func keyPair() {
        #expect(keychain.security("create-keypair -a ec -T /usr/bin/codesign Pair").exit == 0)
        let programs = Self.programs("Pair", " (1):\n            0: /usr/bin/codesign")
        #expect(lists() == Array(repeating: "access: 1 entries\n" + programs, count: 2))
        let outcome = keychain.security("set-key-partition-list -S apple-tool:,apple: -s -k pw")
        #expect(outcome == Outcome(exit: 0, output: keychain.security("find-key -s").output, error: ""))
        #expect(
            Set(lists()) == [
                "access: 1 entries\n" + programs,
                "access: 2 entries\n" + programs + Self.partitions(1, "apple-tool:, apple:"),
            ])
        #expect(keychain.security("set-key-partition-list -S apple: -l None").exit == 44)
    }

    @Test("-T and -A are kept with imported keys; a certificate has no list")
    func imports() throws {
        let authority = try OpenSSLAuthority()
        defer { withExtendedLifetime(authority) {} }
        let issued = try authority.server("example.com")
        #expect(keychain.security("import \(issued.file) -T /usr/bin/codesign").output == "1 certificate imported.\n")
        #expect(lists() == [Self.none])
        #expect(keychain.security("import \(issued.keyFile) -l Key -A").output == "1 key imported.\n")
        #expect(lists() == [Self.none, "access: 1 entries\n" + Self.programs("Key", ": <null>")])
    }

    @Test("Programs and partitions cannot forge lines of the output")
    func hostileText() {
        let word = CommandWord("x\naccess: 9 entries\u{1B}[2J")
        let shown = "x\\naccess: 9 entries\\x1b[2J"
        keychain.security(["add-generic-password", "-a", "a", "-s", "s", "-w", "x", "-l", word, "-T", word])
        keychain.security(["set-generic-password-partition-list", "-S", word, "-a", "a"])
        #expect(
            lists() == [
                "access: 2 entries\n" + Self.programs(shown, " (1):\n            0: \(shown)")
                    + Self.partitions(1, shown)
            ])
    }

    @Test("A program that is not UTF-8, and more or longer ones than a list holds, are refused, and nothing is stored")
    func limits() {
        let add: [CommandWord] = ["add-generic-password", "-a", "a", "-s", "s", "-w", "x"]
        let long = CommandWord(String(repeating: "a", count: 4097))
        let many = Array(repeating: ["-T", "/usr/bin/x"] as [CommandWord], count: 129).flatMap { $0 }
        for (words, problem) in [
            (["-T", CommandWord(bytes: [0x2F, 0xFF])], "UTF-8"), (["-T", long], "4096"), (many, "129 programs"),
        ] as [([CommandWord], String)] {
            let outcome = keychain.security(add + words)
            #expect(outcome.exit == 206 && outcome.error.contains(problem), "\(outcome)")
        }
        #expect(lists().isEmpty)
        keychain.security(add)
        let partitions = CommandWord(Array(repeating: "a:", count: 129).joined(separator: ","))
        let outcome = keychain.security(["set-generic-password-partition-list", "-a", "a", "-S", partitions])
        #expect(outcome.exit == 206 && outcome.error.contains("129 partitions"), "\(outcome)")
        #expect(lists() == [Self.none])
    }
}

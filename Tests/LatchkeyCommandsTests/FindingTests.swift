// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyCommands
import LatchkeyOperations
import LatchkeyService
import Testing

/// `find-…-password` (keychain-behaviour §8.2, §8.3).
@Suite("Finding passwords")
struct FindingTests {
    let keychain: TestKeychain

    init() throws {
        keychain = try TestKeychain(.ephemeral)
    }

    static let missing = """
        security: SecKeychainSearchCopyNext: a matching item could not be found
        hint: security dump-keychain lists the items

        """

    @Test("a missing item exits with 44, macOS's message, and no standard output")
    func missing() {
        for command in ["find-generic-password -a x", "find-internet-password -s x -w", "find-generic-password -g"] {
            #expect(keychain.security(command) == Outcome(exit: 44, output: "", error: Self.missing))
        }
        #expect(keychain.security("delete-generic-password -a x") == Outcome(exit: 44, output: "", error: Self.missing))
    }

    @Test("find and delete prefer the item in the command's own group to another program's")
    func ownGroupFirst() {
        keychain.security("add-generic-password --access-group X -a alice -s one -w other")
        #expect(keychain.security("find-generic-password -a alice -w").output == "other\n", "there is no other yet")
        keychain.security("add-generic-password -a alice -s one -w mine -U")
        #expect(keychain.security("find-generic-password -a alice -s one -w").output == "mine\n")
        #expect(keychain.security("delete-generic-password -a alice -s one").exit == 0)
        #expect(keychain.security("find-generic-password -a alice -s one -w").output == "other\n")
        #expect(keychain.security("find-generic-password --access-group X -a alice -s one -w").output == "other\n")
    }

    @Test("all criteria must match, and the first match is printed; without criteria it is the first item")
    func criteria() {
        keychain.security("add-generic-password -a alice -s one -w 1")
        keychain.security("add-generic-password -a alice -s two -w 2")
        keychain.security("add-generic-password -a bob -s two -w 3")
        #expect(keychain.security("find-generic-password -w").output == "1\n")
        #expect(keychain.security("find-generic-password -a alice -w").output == "1\n")
        #expect(keychain.security("find-generic-password -s two -w").output == "2\n")
        #expect(keychain.security("find-generic-password -s two -a bob -w").output == "3\n")
        #expect(keychain.security("find-generic-password -s one -a bob -w").exit == 44)
        #expect(keychain.security("find-internet-password -w").exit == 44)
    }

    @Test("flags and values cluster", arguments: ["-wa alice -s two", "-s two -wl two", "-wltwo", "-gwa alice -stwo"])
    func clusters(words: String) {
        keychain.security("add-generic-password -a alice -s two -w s3cret")
        #expect(keychain.security("find-generic-password \(words)") == Outcome(exit: 0, output: "s3cret\n", error: ""))
    }

    @Test("-g prints the block on standard output and the password on standard error")
    func withPassword() {
        keychain.security(["add-generic-password", "-a", "a", "-s", "s", "-w", "ä b"])
        let block = keychain.security("find-generic-password -a a")
        #expect(block.error == "")
        let both = keychain.security("find-generic-password -a a -g")
        #expect(both == Outcome(exit: 0, output: block.output, error: "password: 0xC3A42062  \"\\303\\244 b\"\n"))
        keychain.security("add-generic-password -a empty -s s")
        #expect(keychain.security("find-generic-password -a empty -g").error == "password: \n")
    }

    @Test("an account that is not UTF-8 is found by its bytes")
    func bytes() {
        let account = CommandWord(bytes: [0x61, 0xFF])
        keychain.security(["add-generic-password", "-a", account, "-s", "s", "-w", "x"])
        #expect(keychain.security(["find-generic-password", "-wa", account]).output == "x\n")
        #expect(keychain.security("find-generic-password").output.contains("\"acct\"<blob>=0x61FF  \"a\\377\"\n"))
    }

    @Test("items that the user's programs stored in their own groups are found")
    func otherGroups() throws {
        _ = try keychain.service.by(CallerIdentity(executable: "/usr/bin/app", declaredGroups: ["com.example.app"]))
            .add(
                ItemAddition(.genericPassword, attributes: [.account: .string("app")]))
        _ = try keychain.service.by(CallerIdentity(executable: "/usr/bin/app", declaredGroups: ["com.example.app"]))
            .add(
                ItemAddition(.genericPassword, attributes: [.account: .string("synced")], isSynchronizable: true))
        #expect(keychain.security("find-generic-password -a app").exit == 0)
        #expect(keychain.security("find-generic-password -a synced").exit == 0)
        #expect(keychain.security("delete-generic-password -a synced").exit == 0)
        #expect(keychain.accounts() == ["app"])
    }

    // MARK: Deleting

    @Test("delete prints the block on standard output and a line on standard error")
    func deletes() {
        keychain.security("add-generic-password -a a -s s -w x")
        let block = keychain.security("find-generic-password -a a").output
        #expect(
            keychain.security("delete-generic-password -a a")
                == Outcome(exit: 0, output: block, error: "password has been deleted.\n"))
        #expect(keychain.security("find-generic-password -a a").exit == 44)
    }

    @Test("delete deletes only the first match, so that a loop until 44 deletes all")
    func deletesFirst() {
        for account in ["1", "2", "3"] { keychain.security("add-generic-password -a \(account) -s s -w x") }
        var left: [[String]] = []
        while keychain.security("delete-generic-password -s s").exit == 0 { left.append(keychain.accounts()) }
        #expect(left == [["2", "3"], ["3"], []])
        #expect(keychain.security("delete-generic-password -s s").exit == 44)
    }

    @Test(
        "delete without a criterion is a usage error and deletes nothing",
        arguments: ["", "login.keychain", "--access-group latchkey.shared"])
    func deletesNothing(words: String) {
        keychain.security("add-generic-password -a a -s s -w x")
        keychain.security("add-internet-password -a a -s s -w x")
        #expect(keychain.security("delete-generic-password \(words)").exit == 2)
        #expect(keychain.security("delete-internet-password \(words)").exit == 2)
        #expect(keychain.accounts() == ["a", "a"])
    }

    @Test("delete-internet-password matches its own attributes")
    func deletesInternet() {
        keychain.security("add-internet-password -a a -s host -P 80 -w x")
        keychain.security("add-internet-password -a b -s host -P 443 -w x")
        #expect(keychain.security("delete-internet-password -P 443").error == "password has been deleted.\n")
        #expect(keychain.accounts() == ["a"])
    }

    // MARK: Partition lists

    @Test("setting a partition list requires a matching item, and -S")
    func partitionList() {
        keychain.security("add-generic-password -a a -s s -w x")
        #expect(keychain.security("set-generic-password-partition-list -S apple: -s other").exit == 44)
        #expect(keychain.security("set-internet-password-partition-list -S apple: -s s").exit == 44)
        #expect(keychain.security("set-generic-password-partition-list -s s").exit == 2)
    }

    // MARK: Keychains

    @Test(
        "operands that name the default or login keychain select the user's keychain",
        arguments: [
            "login", "login.keychain", "login.keychain-db", "./login.keychain", "default", "ephemeral",
            "login.keychain default",
        ])
    func knownKeychains(operands: String) {
        keychain.security("add-generic-password -a a -s s -w x")
        #expect(keychain.security("find-generic-password -w \(operands)").output == "x\n")
        #expect(keychain.security("dump-keychain \(operands)").exit == 0)
    }

    @Test("the path of the database selects the user's keychain")
    func databasePath() throws {
        let keychain = try TestKeychain(.onDisk)
        let path = "\(try #require(keychain.directory).path)/data/keychain.db"
        #expect(keychain.security("add-generic-password -a a -s s -w x \(path)").exit == 0)
        #expect(keychain.security("find-generic-password -a a \(path)").output.hasPrefix("keychain: \"\(path)\"\n"))
        #expect(keychain.security("find-generic-password -a a ephemeral").exit == 50)
        #expect(keychain.security("list-keychains").output == "    \"\(path)\"\n")
    }

    @Test(
        "any other keychain exits with 50",
        arguments: [
            "find-generic-password -w", "find-internet-password", "add-generic-password -a a -s s -w x",
            "delete-generic-password -a a",
            "dump-keychain", "default-keychain -s", "set-generic-password-partition-list -S x",
        ])
    func unknownKeychain(command: String) throws {
        let outcome = keychain.security("\(command) build.keychain")
        #expect(outcome.exit == 50)
        #expect(keychain.accounts().isEmpty)
        try expectGolden(outcome.description, "unknown-keychain")
    }
}

// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
@testable import LatchkeyCommands
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// `latchkey mv`.
@Suite("Moving items to another access group")
struct MoveCommandTests {
    private static let notes = CallerIdentity(executable: "/usr/bin/notes")

    private func add(
        _ account: String, as caller: CallerIdentity = notes, to group: String? = "latchkey.shared",
        _ keychain: TestKeychain
    ) throws {
        _ = try keychain.service.by(caller).add(
            ItemAddition(
                .genericPassword, attributes: [.account: .string(account), .service: .string("s")],
                secrets: ItemSecrets(data: SharedSecret(copying: "secret of \(account)".utf8)), accessGroup: group))
    }

    /// The names of the items that `latchkey list` shows, each with its group.
    private func list(_ keychain: TestKeychain) -> [String] {
        keychain.latchkey("list").output.split(separator: "\n").map {
            $0.split(separator: "\t").prefix(2).joined(separator: " ")
        }
    }

    @Test(
        "What an executable has added to the shared group is moved to its own, after a dry run",
        arguments: Backend.allCases)
    func added(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        for account in ["a", "b"] { try add(account, keychain) }
        try add("c", as: CallerIdentity(executable: "/opt/notes"), keychain)
        try add("d", to: "flatpak.org.example.App", keychain)
        let before = list(keychain)
        let tried = keychain.latchkey("mv --dry-run --added-by /usr/bin/notes")
        #expect(
            tried.exit == 0
                && tried.output == "would move s/a from latchkey.shared to program.notes\n"
                    + "would move s/b from latchkey.shared to program.notes\n",
            "\(tried)")
        #expect(list(keychain) == before)
        let moved = keychain.latchkey("mv --added-by /usr/bin/notes")
        #expect(moved.exit == 0 && moved.error.contains("latchkey: moved s/a from latchkey.shared to program.notes\n"))
        #expect(
            Set(list(keychain)) == [
                "s/a program.notes", "s/b program.notes", "s/c latchkey.shared", "s/d flatpak.org.example.App",
            ])
        #expect(keychain.latchkey("get --reveal s/a").output == "secret of a")
        // Nothing is left to move.
        let again = keychain.latchkey("mv --added-by /usr/bin/notes")
        #expect(again.exit & 0xFF == 44 && again.error.contains("has added no item to latchkey.shared"), "\(again)")
    }

    @Test("An item is moved by its name; several only with --all")
    func named() throws {
        let keychain = try TestKeychain(.ephemeral)
        for account in ["a", "b"] { try add(account, keychain) }
        let empty = ["mv", "s/a", "--to", ""].map { CommandWord($0) }
        #expect(keychain.security(empty, as: "latchkey").exit == 2)
        #expect(keychain.latchkey("mv s/a --to com.example.app").exit == 0)
        #expect(Set(list(keychain)) == ["s/a com.example.app", "s/b latchkey.shared"])
        #expect(keychain.latchkey("mv s --to other").exit != 0)
        #expect(keychain.latchkey("mv --all s --to other").exit == 0)
        #expect(Set(list(keychain)) == ["s/a other", "s/b other"])
        // Already there.
        let moved = keychain.latchkey("mv --all s --to other")
        #expect(moved.exit == 0 && moved.error.isEmpty)
    }

    @Test("An item with the name of one in the new group stays, and the others are moved")
    func taken() throws {
        let keychain = try TestKeychain(.ephemeral)
        for account in ["a", "b"] { try add(account, keychain) }
        try add("a", to: nil, keychain)
        let moved = keychain.latchkey("mv --added-by /usr/bin/notes")
        #expect(moved.exit & 0xFF == 45, "\(moved)")
        #expect(moved.error.contains("not moved, program.notes has an item with this name: s/a"))
        #expect(moved.error.contains("1 of 2 items were not moved"))
        #expect(list(keychain).sorted() == ["s/a latchkey.shared", "s/a program.notes", "s/b program.notes"])
    }

    @Test("A command line that names nothing, no group or a reserved one is refused")
    func refused() throws {
        let keychain = try TestKeychain(.ephemeral)
        try add("a", keychain)
        for words in ["", "s/a", "--to x", "--added-by /usr/bin/notes s/a", "--added-by /usr/bin/"] {
            #expect(keychain.latchkey("mv \(words)").exit == 2, "\(words)")
        }
        let empty = ["mv", "s/a", "--to", ""].map { CommandWord($0) }
        #expect(keychain.security(empty, as: "latchkey").exit == 2)
        #expect(keychain.latchkey("mv s/a --to com.apple.token").error.contains("is reserved"))
        #expect(list(keychain) == ["s/a latchkey.shared"])
        #expect(keychain.latchkey("mv s/none --to x").exit & 0xFF == 44)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// The commands of `latchkey collection`.
@Suite("latchkey collection")
struct CollectionCommandTests {
    private static func store(_ service: String, in name: String, _ keychain: TestKeychain) throws {
        let map = try LookupAttributes([("service", service)])
        let group = try #require(CollectionName(name)).accessGroup.name
        _ = try keychain.service.by(CallerIdentity(executable: "/usr/libexec/latchkey/latchkey-secret-service")).add(
            ItemAddition(
                map, label: service, data: SharedSecret(copying: "x".utf8), contentType: nil, replaces: true,
                accessGroup: group))
    }

    @Test("A collection is created, listed, renamed and deleted", arguments: Backend.allCases)
    func life(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        #expect(
            keychain.latchkey("collection list") == Outcome(exit: 0, output: "login\tLogin\t0\t-\tdefault\n", error: "")
        )
        #expect(keychain.latchkey("collection create Work") == Outcome(exit: 0, output: "Work\n", error: ""))
        #expect(keychain.latchkey("collection create Work").output == "Work 2\n")
        try Self.store("example.com", in: "Work", keychain)
        let renamed = keychain.latchkey("collection rename Work Office")
        #expect(renamed == Outcome(exit: 0, output: "", error: "latchkey: the collection Work is renamed to Office\n"))
        let lines = keychain.latchkey("collection list").output.split(separator: "\n")
        #expect(
            lines == [
                "login\tLogin\t0\t-\tdefault", "Work\tOffice\t1\t2026-11-22T12:00:00Z",
                "Work 2\tWork\t0\t2026-11-22T12:00:00Z",
            ])
        let dryRun = keychain.latchkey("collection delete --dry-run Work")
        #expect(
            dryRun
                == Outcome(
                    exit: 0, output: "", error: "latchkey: the collection Work would be deleted, with 1 item\n"))
        let deleted = keychain.latchkey("collection delete Work", io: TestIO(input: ["yes"], answers: []))
        #expect(
            deleted.exit == 0 && deleted.output.isEmpty
                && deleted.error
                    == "latchkey: the collection Work and its 1 item will be deleted. Continue? (yes/no) "
                    + "latchkey: the collection Work is deleted, with 1 item\n"
        )
        #expect(!keychain.latchkey("collection list").output.contains("Office"))
    }

    @Test("JSON has every collection with its access group")
    func json() throws {
        let keychain = try TestKeychain(.ephemeral)
        let created = keychain.latchkey("collection create --json Work").output
        for part in [#""name" : "Work""#, #""label" : "Work""#, #""created" : "2026-11-22T12:00:00Z""#] {
            #expect(created.contains(part), "\(part)")
        }
        let text = Data(keychain.latchkey("collection list --json").output.utf8)
        let list = try #require(try JSONSerialization.jsonObject(with: text) as? [[String: Any]])
        #expect(list.map { $0["accessGroup"] as? String } == ["latchkey.shared", "org.freedesktop.secrets.Work"])
        #expect(list.map { $0["isDefault"] as? Bool } == [true, false] && list[0]["created"] == nil)
        let deleted = keychain.latchkey("collection delete --force --json Work").output
        #expect(deleted.contains(#""deleted" : true"#) && deleted.contains(#""items" : 0"#))
        let dryRun = keychain.latchkey("collection delete --dry-run --json login")
        #expect(dryRun.exit != 0 && dryRun.output.isEmpty)
    }

    @Test("A missing collection, the login collection, and an unconfirmed one are not deleted")
    func refused() throws {
        let keychain = try TestKeychain(.ephemeral)
        #expect(keychain.latchkey("collection create Work").exit == 0)
        let missing = keychain.latchkey("collection delete --force Home")
        #expect(missing.exit == 44)
        #expect(missing.error == "latchkey: there is no such collection\nhint: latchkey collection list\n")
        #expect(keychain.latchkey("collection rename Home x").exit == 44)
        let login = keychain.latchkey("collection delete --force login")
        #expect(login.exit == 252 && login.error.contains("'login' cannot be deleted"))
        let pipe = keychain.latchkey("collection delete Work")
        #expect(pipe.exit == 206 && pipe.error.contains("--force"))
        let answered = keychain.latchkey("collection delete Work", io: TestIO(input: ["no"], answers: []))
        #expect(answered.exit != 0 && answered.error.contains("nothing was changed"))
        #expect(keychain.latchkey("collection list").output.contains("Work"))
    }

    @Test("A locked keychain lists its collections, and loses none")
    func locked() throws {
        let keychain = try TestKeychain(.ephemeral)
        #expect(keychain.latchkey("collection create Work").exit == 0)
        try Self.store("example.com", in: "Work", keychain)
        try keychain.service.administrator.setPasscode(SharedSecret(copying: "the passcode".utf8)) { _, _ in }
        try keychain.service.administrator.lock(immediately: true)
        #expect(keychain.latchkey("collection list").output.contains("Work\tWork\t1\t"))
        let deleted = keychain.latchkey("collection delete --force Work")
        #expect(deleted.exit == 36 && deleted.error.contains("hint: latchkey unlock"))
    }

    @Test("The records of collections are not among the passwords, unless their access group is named")
    func records() throws {
        let keychain = try TestKeychain(.ephemeral)
        #expect(keychain.latchkey("collection create Work").exit == 0)
        try Self.store("example.com", in: "Work", keychain)
        let list = keychain.latchkey("list").output
        #expect(list.contains("org.freedesktop.secrets.Work") && !list.contains("org.freedesktop.Secret.Collection"))
        #expect(
            keychain.latchkey("list --access-group org.freedesktop.secrets").output
                .contains("org.freedesktop.Secret.Collection"))
        // The user's command finds the password in its collection.
        #expect(keychain.security("find-generic-password -s example.com -w").output == "x\n")
    }
}

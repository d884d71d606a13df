// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
@testable import LatchkeyCommands
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// `latchkey policy`.
@Suite("Policies of access groups")
struct PolicyCommandTests {
    private static let bank = CallerIdentity(executable: "/usr/bin/bank")

    private static func item(_ account: String, synchronizable: Bool = false) -> ItemAddition {
        ItemAddition(
            .genericPassword, attributes: [.account: .string(account), .service: .string("s")],
            secrets: ItemSecrets(data: SharedSecret(copying: "s3cret".utf8)), isSynchronizable: synchronizable)
    }

    private static func read(_ account: String, _ keychain: TestKeychain) -> Int32 {
        let query = ItemQuery(
            .genericPassword, attributes: [.account: .string(account), .service: .string("s")], limit: .one,
            authentication: Authentication(.fail))
        do throws(KeychainError) {
            _ = try keychain.service.by(bank).copyMatching(query, returning: .data).required()
            return 0
        } catch { return error.status.rawValue }
    }

    private func keychain(_ backend: Backend = .ephemeral) throws -> TestKeychain {
        let keychain = try TestKeychain(backend)
        try keychain.service.administrator.setPasscode(SharedSecret(copying: "the passcode".utf8)) { _, _ in }
        return keychain
    }

    @Test("In a guarded group, present, new, changed and moved items require the person", arguments: Backend.allCases)
    func presence(_ backend: Backend) throws {
        let keychain = try keychain(backend)
        let bank = keychain.service.by(Self.bank)
        _ = try bank.add(Self.item("before"))
        let tried = keychain.latchkey("policy require-presence --dry-run program.bank")
        #expect(tried.exit == 0 && tried.output == "would require the person: s/before\n", "\(tried)")
        #expect(keychain.latchkey("policy list").output.isEmpty && Self.read("before", keychain) == 0)
        let set = keychain.latchkey("policy require-presence program.bank")
        #expect(set.exit == 0 && set.error.contains("requires the person: s/before"), "\(set)")
        #expect(keychain.latchkey("policy list").output == "program.bank\trequire-presence\n")
        _ = try bank.add(Self.item("after"))
        for account in ["before", "after"] {
            #expect(Self.read(account, keychain) == -25330, "\(account)")
            // The command has no terminal to ask at.
            #expect(keychain.latchkey("get --reveal --access-group program.bank s/\(account)").exit != 0, "\(account)")
        }
        // Moved into the group, and with a new class, which removes an access control.
        var other = Self.item("moved")
        other.accessGroup = "latchkey.shared"
        _ = try bank.add(other)
        #expect(Self.read("moved", keychain) == 0)
        #expect(keychain.latchkey("mv --access-group latchkey.shared s/moved --to program.bank").exit == 0)
        #expect(Self.read("moved", keychain) == -25330)
        // Other groups are not concerned.
        _ = try keychain.service.by(CallerIdentity(executable: "/usr/bin/notes")).add(Self.item("before"))
        let notes = CallerIdentity(executable: "/usr/bin/notes")
        let query = ItemQuery(.genericPassword, attributes: [.service: .string("s")], limit: .all)
        #expect(try keychain.service.by(notes).copyMatching(query, returning: .data).records.count == 1)
        // The policy ends for new items alone.
        #expect(keychain.latchkey("policy remove program.bank").exit == 0)
        #expect(keychain.latchkey("policy remove program.bank").exit & 0xFF == 44)
        _ = try bank.add(Self.item("free"))
        #expect(Self.read("free", keychain) == 0 && Self.read("after", keychain) == -25330)
    }

    @Test("Without a passcode there is no policy, and an item that cannot require the person is named")
    func refused() throws {
        let keychain = try TestKeychain(.ephemeral)
        let without = keychain.latchkey("policy require-presence program.bank")
        #expect(without.exit != 0 && without.error.contains("hint: latchkey passcode set"), "\(without)")
        #expect(keychain.latchkey("policy list").output.isEmpty)
        try keychain.service.administrator.setPasscode(SharedSecret(copying: "the passcode".utf8)) { _, _ in }
        let bank = keychain.service.by(Self.bank)
        _ = try bank.add(Self.item("local"))
        _ = try bank.add(Self.item("everywhere", synchronizable: true))
        let partly = keychain.latchkey("policy require-presence program.bank")
        #expect(partly.exit == 1 && partly.error.contains("does not require the person: s/everywhere"), "\(partly)")
        #expect(Self.read("local", keychain) == -25330)
        // A new one that could not require the person is not stored.
        #expect(throws: KeychainError.self) { try bank.add(Self.item("more", synchronizable: true)) }
        for group in ["", "*", "com.apple.token"] {
            let words = ["policy", "require-presence", group].map { CommandWord($0) }
            #expect(keychain.security(words, as: "latchkey").exit != 0)
        }
        let list = keychain.latchkey("list").output
        #expect(list.contains("s/everywhere") && !list.contains("policy"), "\(list)")
    }
}

// SPDX-License-Identifier: Apache-2.0

import ForgeTokens
import Latchkey
import Testing

@Suite("The tokens of forge")
struct TokenStoreTests {
    private let alice = TokenStore.Account(server: "forge.example.com", name: "alice")
    private let bob = TokenStore.Account(server: "forge.example.com", name: "bob")

    @Test("A token is stored, replaced, listed and removed")
    func life() throws {
        let store = TokenStore(keychain: try Keychain.ephemeral())
        #expect(try store.token(for: alice) == nil)
        try store.save("one", for: alice)
        try store.save("two", for: alice)
        try store.save("three", for: bob)
        #expect(try store.token(for: alice) == "two")
        #expect(try store.accounts() == [alice, bob])
        #expect(try store.remove(alice))
        #expect(try !store.remove(alice))
        #expect(try store.accounts() == [bob])
    }

    @Test("The items of other programs are not listed")
    func others() throws {
        let keychain = try Keychain.ephemeral()
        try keychain.set(InternetPassword(server: "example.org", account: "carol", scheme: .https), to: "s3cret")
        #expect(try TokenStore(keychain: keychain).accounts() == [])
    }

    @Test("A locked keychain is an error, and not a missing token")
    func locked() throws {
        let keychain = try Keychain.ephemeral()
        let store = TokenStore(keychain: keychain)
        try store.save("one", for: alice)
        try keychain.setPasscode("correct horse battery")
        try keychain.lock(immediately: true)
        #expect {
            try store.token(for: alice)
        } throws: { error in
            (error as? KeychainError)?.status == .interactionNotAllowed
        }
    }
}

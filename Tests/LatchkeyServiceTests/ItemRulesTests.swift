// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyService
import SecretMemory
import Testing

/// The rules for every item that is added or changed.
@Suite("Rules of items")
struct ItemRulesTests {
    @Test(
        "An addition or update with an attribute that its class does not store is rejected: its row could not be opened again",
        arguments: [
            (ItemClass.genericPassword, ItemAttribute.server, AttributeValue.string("example.com")),
            (.genericPassword, .creationDate, .date(1)), (.internetPassword, .service, .string("s")),
            (.internetPassword, .accessGroup, .string("G2")), (.genericPassword, .digest, .data([1])),
        ], Backend.allCases)
    func foreign(_ item: (ItemClass, ItemAttribute, AttributeValue), _ backend: Backend) throws {
        let (itemClass, attribute, value) = item
        let (keychain, caller) = (try TestKeychain(backend), TestKeychain.caller)
        let addition = ItemAddition(itemClass, attributes: [attribute: value])
        #expect(status { () throws(KeychainError) in _ = try keychain.service.add(addition, from: caller) } == -25303)
        _ = try keychain.service.add(ItemAddition(itemClass), from: caller)
        let update = ItemUpdate(attributes: [attribute: value])
        #expect(
            status { () throws(KeychainError) in
                _ = try keychain.service.update(ItemQuery(itemClass), with: update, from: caller)
            }
                == -25303)
        #expect(try keychain.service.check { _ in }.allSatisfy(\.isHealthy))
    }

    @Test("A secret attribute that its class does not store is rejected", arguments: Backend.allCases)
    func foreignSecret(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let secrets = ItemSecrets(attributes: [.extraNotes: SharedSecret(copying: "n".utf8)])
        for (itemClass, expected) in [(ItemClass.genericPassword, Int32(-25303)), (.internetPassword, 0)] {
            let addition = ItemAddition(itemClass, secrets: secrets)
            #expect(
                status { () throws(KeychainError) in _ = try keychain.service.add(addition, from: TestKeychain.caller) }
                    == expected)
        }
        #expect(try keychain.service.check { _ in }.allSatisfy(\.isHealthy))
    }
}

// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyOperations
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
        #expect(status { () throws(KeychainError) in _ = try keychain.service.by(caller).add(addition) } == -25303)
        _ = try keychain.service.by(caller).add(ItemAddition(itemClass))
        let update = ItemUpdate(attributes: [attribute: value])
        #expect(
            status { () throws(KeychainError) in
                _ = try keychain.service.by(caller).update(ItemQuery(itemClass), with: update)
            }
                == -25303)
        #expect(try keychain.service.administrator.check { _ in }.allSatisfy(\.isHealthy))
    }

    @Test(
        "KDB-88: an access list that is malformed, or of a class without one, is neither added nor set",
        arguments: Backend.allCases)
    func accessList(_ backend: Backend) throws {
        let (keychain, caller) = (try TestKeychain(backend), TestKeychain.caller)
        let valid = try AccessList(name: "n", programs: .any).attributeValue
        let rows: [(ItemClass, AttributeValue, Int32)] = [
            (.genericPassword, .data([]), -50), (.internetPassword, .data([2, 0, 0, 0, 0, 0]), -50),
            (.key, .string("x"), -50), (.certificate, valid, -25303), (.genericPassword, valid, 0),
            (.internetPassword, valid, 0), (.key, valid, 0),
        ]
        for itemClass in ItemClass.stored { _ = try keychain.service.by(caller).add(ItemAddition(itemClass)) }
        for (itemClass, value, expected) in rows {
            let addition = ItemAddition(itemClass, attributes: [.accessList: value, .label: .string("x")])
            let update = ItemUpdate(attributes: [.accessList: value])
            // A valid addition is a duplicate of the item above.
            let added = status { () throws(KeychainError) in _ = try keychain.service.by(caller).add(addition) }
            #expect(added == (expected == 0 ? -25299 : expected), "\(itemClass)")
            let updated = status { () throws(KeychainError) in
                _ = try keychain.service.by(caller).update(ItemQuery(itemClass), with: update)
            }
            #expect(updated == expected, "\(itemClass)")
        }
        #expect(try keychain.service.administrator.check { _ in }.allSatisfy(\.isHealthy))
    }

    @Test("A secret attribute that its class does not store is rejected", arguments: Backend.allCases)
    func foreignSecret(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let secrets = ItemSecrets(attributes: [.extraNotes: SharedSecret(copying: "n".utf8)])
        for (itemClass, expected) in [(ItemClass.genericPassword, Int32(-25303)), (.internetPassword, 0)] {
            let addition = ItemAddition(itemClass, secrets: secrets)
            #expect(
                status { () throws(KeychainError) in _ = try keychain.service.by(TestKeychain.caller).add(addition) }
                    == expected)
        }
        #expect(try keychain.service.administrator.check { _ in }.allSatisfy(\.isHealthy))
    }
}

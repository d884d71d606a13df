// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
@testable import SecretService
import Testing

/// What the service remembers of items for the time when they are locked.
@Suite("Known items")
struct KnownItemsTests {
    private static func reference(_ number: Int, in collection: CollectionName = .login) throws -> ItemReference {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        return ItemReference(collection, try #require(SecretItemID(bytes)))
    }

    private static func item(_ number: Int, label: String = "", in collection: CollectionName = .login) throws
        -> SecretItem
    {
        let metadata = SecretItemMetadata(label: label, attributes: .none, created: 1, modified: 2)
        return SecretItem(try reference(number, in: collection), metadata)
    }

    private static func isKnown(_ number: Int, _ known: KnownItems, in collection: CollectionName = .login) throws
        -> Bool
    {
        known.completed(SecretItem(locked: try reference(number, in: collection))).metadata != nil
    }

    @Test("Items beyond the maximum number are not known, and do not take the places of others")
    func count() throws {
        let known = KnownItems()
        for number in 0...KnownItems.maxCount { known.remember([try Self.item(number)]) }
        #expect(try Self.isKnown(0, known) && Self.isKnown(KnownItems.maxCount - 1, known))
        #expect(try !Self.isKnown(KnownItems.maxCount, known))
    }

    @Test("The length of all texts is limited, and changed and forgotten items give theirs back")
    func length() throws {
        let known = KnownItems()
        let half = String(repeating: "x", count: KnownItems.maxLength / 2)
        known.remember([try Self.item(1, label: half), try Self.item(2, label: half), try Self.item(3, label: "y")])
        #expect(try Self.isKnown(1, known) && Self.isKnown(2, known) && !Self.isKnown(3, known))
        known.remember([try Self.item(2, label: "small"), try Self.item(3, label: "y")])
        #expect(try Self.isKnown(3, known))
        known.renew(.login, [try Self.item(3, label: "y"), try Self.item(4, label: half)])
        #expect(try !Self.isKnown(1, known) && !Self.isKnown(2, known) && Self.isKnown(3, known))
        #expect(try Self.isKnown(4, known))
    }

    @Test("The items of other collections stay, and a locked one keeps what was known")
    func renewing() throws {
        let known = KnownItems()
        known.remember([try Self.item(1, label: "a"), try Self.item(1, label: "b", in: .session)])
        known.renew(.login, [SecretItem(locked: try Self.reference(1))])
        #expect(try known.completed(SecretItem(locked: Self.reference(1))).label == "a")
        #expect(try known.completed(SecretItem(locked: Self.reference(1, in: .session))).label == "b")
        known.renew(.login, [])
        #expect(try !Self.isKnown(1, known) && Self.isKnown(1, known, in: .session))
    }
}

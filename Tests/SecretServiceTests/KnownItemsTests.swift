// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
@testable import SecretService
import Testing

/// The data that the service remembers of items for the time when they are locked.
@Suite("Known items")
struct KnownItemsTests {
    private static func reference(_ number: Int, in collection: CollectionName = .login) throws -> ItemReference {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        return ItemReference(collection, try #require(SecretItemID(bytes)))
    }

    private static func item(
        _ number: Int, label: String = "", of program: String? = nil, in collection: CollectionName = .login
    ) throws -> SecretItem {
        let metadata = SecretItemMetadata(label: label, attributes: .none, created: 1, modified: 2)
        return SecretItem(
            try reference(number, in: collection), metadata,
            creators: try program.map { [try #require(ProgramPath($0))] } ?? [])
    }

    private static func isKnown(_ number: Int, _ known: KnownItems, in collection: CollectionName = .login) throws
        -> Bool
    {
        known.completed(SecretItem(locked: try reference(number, in: collection))).metadata != nil
    }

    @Test(
        "Beyond the maximum number, the program that has most items in a collection loses its oldest, and no other one does"
    )
    func count() throws {
        let known = KnownItems()
        for number in 0..<10 { known.remember([try Self.item(number, of: "/usr/bin/small")]) }
        known.remember([try Self.item(0, of: "/usr/bin/large", in: .session)])
        for number in 10..<KnownItems.maxCount + 20 { known.remember([try Self.item(number, of: "/usr/bin/large")]) }
        for number in 0..<10 { #expect(try Self.isKnown(number, known), "\(number)") }
        #expect(try Self.isKnown(0, known, in: .session))
        // 10 and 1 are of others.
        #expect(try !Self.isKnown(30, known) && Self.isKnown(31, known))
        #expect(try Self.isKnown(KnownItems.maxCount + 19, known))
        // One that was seen again is not the oldest any more.
        known.remember([try Self.item(31, of: "/usr/bin/large"), try Self.item(0, of: "/usr/bin/new")])
        #expect(try Self.isKnown(31, known) && Self.isKnown(0, known) && Self.isKnown(32, known))
        known.remember([try Self.item(1, of: "/usr/bin/new", in: .session)])
        #expect(try Self.isKnown(31, known) && !Self.isKnown(32, known) && Self.isKnown(1, known, in: .session))
    }

    @Test("A deleted item and the items of a deleted collection are forgotten, and take no place")
    func forgetting() throws {
        let known = KnownItems()
        known.remember([try Self.item(1), try Self.item(2), try Self.item(1, in: .session)])
        known.forget(try Self.reference(1))
        #expect(try !Self.isKnown(1, known) && Self.isKnown(2, known) && Self.isKnown(1, known, in: .session))
        known.forget(.login)
        #expect(try !Self.isKnown(2, known) && Self.isKnown(1, known, in: .session))
    }

    @Test("Of a collection that was read in part, only the newest other items are kept, and are to be read again")
    func partlyRead() throws {
        let known = KnownItems()
        let count = KnownItems.maxUnread + 10
        for number in 0..<count { known.remember([try Self.item(number)]) }
        known.remember([try Self.item(1, in: .session)])
        let unread = known.renew(.login, [try Self.item(0), try Self.item(count)], isWhole: false)
        #expect(try Set(unread) == Set((10..<count).map { try Self.reference($0) }))
        #expect(try Self.isKnown(0, known) && !Self.isKnown(9, known) && Self.isKnown(10, known))
        #expect(try Self.isKnown(count, known) && Self.isKnown(1, known, in: .session))
    }

    @Test("The length of all texts is limited, and changed and forgotten items give theirs back")
    func length() throws {
        let known = KnownItems()
        let half = String(repeating: "x", count: KnownItems.maxLength / 2)
        known.remember([try Self.item(1, label: half), try Self.item(2, label: half), try Self.item(3, label: "y")])
        #expect(try !Self.isKnown(1, known) && Self.isKnown(2, known) && Self.isKnown(3, known))
        known.remember([try Self.item(2, label: "small"), try Self.item(1, label: half)])
        #expect(try Self.isKnown(1, known) && Self.isKnown(2, known) && Self.isKnown(3, known))
        known.renew(.login, [try Self.item(3, label: "y"), try Self.item(4, label: half)])
        #expect(try !Self.isKnown(1, known) && !Self.isKnown(2, known) && Self.isKnown(3, known))
        #expect(try Self.isKnown(4, known))
    }

    @Test("The items of other collections stay, and a locked one keeps its known label")
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

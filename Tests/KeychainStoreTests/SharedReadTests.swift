// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeychainModel
@testable import KeychainStore
import KeychainTesting
import SQLiteConnections
import Synchronization
import Testing

/// Reads that share a transaction.
@Suite("Reads of one call")
struct SharedReadTests {
    private static func accounts(_ store: KeychainStore) -> Int? {
        try? store.search(Sample.search(), limit: nil, withSecrets: true).records.count
    }

    private static let budget = ReadBudget(rows: 32, bytes: 64 << 10, instructions: 20_000)

    @Test("Reads that belong together see one state of the database, also while another connection changes it")
    func oneState() throws {
        let fixture = try StoreFixture()
        let (store, other) = (try fixture.open(), try fixture.open())
        _ = try store.add(Sample.item("a"))
        let counts = store.reading {
            let first = Self.accounts(store)
            _ = try? other.add(Sample.item("b"))
            // Each statement alone would see the new item.
            return [first, Self.accounts(store), Self.accounts(other)]
        }
        #expect(counts == [1, 1, 2])
        #expect(Self.accounts(store) == 2)
        let atOnce = store.reading(within: Self.budget) { () -> [Int?] in
            let first = Self.accounts(store)
            _ = try? other.add(Sample.item("c"))
            return [first, Self.accounts(store)]
        }
        #expect(atOnce == [2, 2])
    }

    @Test("A call that changes something runs again, and then sees its own change")
    func changes() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        var runs = 0
        let count = store.reading { () -> Int? in
            runs += 1
            _ = try? store.add(Sample.item("a"))
            return Self.accounts(store)
        }
        #expect(count == 1 && runs == 2)
        let atOnce = store.reading(within: Self.budget) { try? store.add(Sample.item("b")) }
        #expect(atOnce == nil && Self.accounts(store) == 1)
    }

    @Test("An immediate read has few rows, few bytes, and few instructions of SQLite")
    func budget() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        for number in 0..<32 { _ = try store.add(Sample.item("\(number)")) }
        func atOnce(_ change: (inout ReadBudget) -> Void = { _ in }) -> Int? {
            var budget = Self.budget
            change(&budget)
            return (store.reading(within: budget) { Self.accounts(store) }) ?? nil
        }
        #expect(atOnce() == 32)
        #expect(atOnce { $0.rows = 31 } == nil)
        #expect(atOnce { $0.instructions = 500 } == nil)
        // The rows of several reads count together.
        #expect(store.reading(within: Self.budget) { [Self.accounts(store), Self.accounts(store)] } == nil)
        _ = try store.add(Sample.item("a large item", data: String(repeating: "x", count: 64 << 10)))
        #expect(atOnce { $0.rows = 33 } == nil)
        #expect(atOnce { ($0.rows, $0.bytes) = (33, 1 << 20) } == 33)
        #expect(Self.accounts(store) == 33)
    }

    @Test("An immediate read waits for no connection")
    func waiting() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        _ = try store.add(Sample.item("a"))
        let (begun, going) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        for _ in 0..<4 {
            DispatchQueue.global().async {
                store.reading {
                    begun.signal()
                    going.awaitSignal()
                }
            }
        }
        for _ in 0..<4 { begun.awaitSignal() }
        #expect(store.reading(within: Self.budget) { Self.accounts(store) } == nil)
        for _ in 0..<4 { going.signal() }
        #expect(eventually { store.reading(within: Self.budget) { Self.accounts(store) } == 1 })
    }
}

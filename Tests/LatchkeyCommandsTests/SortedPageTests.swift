// SPDX-License-Identifier: Apache-2.0

@testable import LatchkeyCommands
import Testing

@Suite("Page of a sorted list")
struct SortedPageTests {
    @Test(
        "A page is the part of the sorted list, with equal keys in their order, and values off the page are not made",
        arguments: [(0, 20), (40, 20), (0, nil), (4990, 20), (5000, 1), (Int.max, nil), (Int.max, 1)] as [(Int, Int?)])
    func pages(_ offset: Int, _ limit: Int?) {
        // Every key five times, in an order that is not sorted.
        let keys = (0..<5000).map { ($0 * 7919) % 1000 }
        var page = SortedPage<Int, Int>(offset: offset, limit: limit)
        var made = 0
        for (number, key) in keys.enumerated() {
            func make() -> Int {
                made += 1
                return number
            }
            page.add(key, make())
        }
        let sorted = keys.enumerated().sorted { ($0.element, $0.offset) < ($1.element, $1.offset) }
        let expected = sorted.dropFirst(offset).prefix(limit ?? .max)
        let values = page.values()
        #expect(values.map(\.key) == expected.map(\.element) && values.map(\.value) == expected.map(\.offset))
        #expect(page.count == 5000)
        if offset == 0, limit != nil { #expect(made < 1500, "\(made)") }
    }
}

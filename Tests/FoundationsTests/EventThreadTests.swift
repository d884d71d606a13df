// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeychainTesting
import LinuxSystem
import Testing

@Suite("Events on a thread of their own")
struct EventThreadTests {
    private let handled = Collected<Int>()

    @Test("Events are handled in their order, and the last one after all of them")
    func order() throws {
        let thread = try #require(EventThread(maxCount: 1_000))
        for number in 0..<1_000 {
            let isAdded = thread.add { [handled] in handled.append(number) }
            // The thread may be behind.
            guard isAdded else { break }
        }
        thread.end { [handled] in handled.append(-1) }
        #expect(eventually { handled.all.last == -1 })
        #expect(handled.all.dropLast() == Array(0..<handled.all.count - 1)[...])
    }

    @Test("Too many events and events that cost too much are refused, until others have been handled")
    func limits() throws {
        let thread = try #require(EventThread(maxCount: 3, maxCost: 10))
        let go = DispatchSemaphore(value: 0)
        #expect(thread.add(cost: 4) { go.wait() })
        #expect(!thread.add(cost: 7) {})
        #expect(!thread.add(cost: .max) {})
        #expect(thread.add(cost: 6) { [handled] in handled.append(1) })
        #expect(!thread.add(cost: 1) {})
        #expect(thread.add { [handled] in handled.append(2) })
        #expect(!thread.add {})
        go.signal()
        #expect(eventually { handled.all == [1, 2] })
        #expect(eventually { thread.add(cost: 10) { [handled] in handled.append(3) } })
        thread.end()
        #expect(eventually { handled.all == [1, 2, 3] })
    }

    @Test("The end lets waiting events be handled, adds the last one although too many wait, and refuses others")
    func end() throws {
        let thread = try #require(EventThread(maxCount: 1))
        let go = DispatchSemaphore(value: 0)
        #expect(thread.add { go.wait() })
        thread.end { [handled] in handled.append(1) }
        thread.end { [handled] in handled.append(2) }
        #expect(!thread.add {})
        go.signal()
        #expect(eventually { handled.all == [1] })
    }
}

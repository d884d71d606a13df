// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeychainTesting
import LinuxSystem
import Testing

@Suite("Events on a thread of their own")
struct EventThreadTests {
    private let handled = Collected<Int>()

    private func add(_ number: Int, cost: Int = 0, to thread: EventThread) -> Bool {
        thread.add(cost: cost) { [handled] in handled.append(number) }
    }

    /// Adds an event that waits for the semaphore.
    private func add(_ semaphore: DispatchSemaphore, cost: Int = 0, to thread: EventThread) -> Bool {
        thread.add(cost: cost) { semaphore.awaitSignal() }
    }

    @Test("Events are handled in their order, and the last one after all of them")
    func order() throws {
        let thread = try #require(EventThread(maxCount: 1_000))
        for number in 0..<1_000 {
            // The thread may be behind.
            guard add(number, to: thread) else { break }
        }
        thread.end { [handled] in handled.append(-1) }
        #expect(eventually { handled.all.last == -1 })
        #expect(handled.all.dropLast() == Array(0..<handled.all.count - 1)[...])
    }

    @Test("Too many events and events that cost too much are refused, until others have been handled")
    func limits() throws {
        let thread = try #require(EventThread(maxCount: 3, maxCost: 10))
        let go = DispatchSemaphore(value: 0)
        #expect(add(go, cost: 4, to: thread))
        #expect(!add(0, cost: 7, to: thread))
        #expect(!add(0, cost: .max, to: thread))
        #expect(add(1, cost: 6, to: thread))
        #expect(!add(0, cost: 1, to: thread))
        #expect(add(2, to: thread))
        #expect(!add(0, to: thread))
        go.signal()
        #expect(eventually { handled.all == [1, 2] })
        #expect(eventually { add(3, cost: 10, to: thread) })
        thread.end()
        #expect(eventually { handled.all == [1, 2, 3] })
    }

    @Test("The end lets waiting events be handled, adds the last one although too many wait, and refuses others")
    func end() throws {
        let thread = try #require(EventThread(maxCount: 1))
        let go = DispatchSemaphore(value: 0)
        #expect(add(go, to: thread))
        thread.end { [handled] in handled.append(1) }
        thread.end { [handled] in handled.append(2) }
        #expect(!add(0, to: thread))
        go.signal()
        #expect(eventually { handled.all == [1] })
    }
}

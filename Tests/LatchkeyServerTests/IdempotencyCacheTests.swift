// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyProtocol
@testable import LatchkeyServer
import LinuxSystem
import Testing

/// Responses to changes are cached for a limited time.
@Suite("Idempotency cache")
struct IdempotencyCacheTests {
    private func token(_ number: Int) -> IdempotencyCache.Token {
        IdempotencyCache.Token(user: 1, bytes: (0..<16).map { UInt8(truncatingIfNeeded: number >> ($0 % 8 * 8)) })
    }

    private let request = DeleteItems(ItemQuery(.genericPassword))

    @Test("A slow change does not stop the eviction of expired responses")
    func runningChange() {
        let changes = IdempotencyCache()
        let (begun, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let running = token(1_000_000)
        let request = request
        BackgroundThread.run {
            _ = changes.perform(running, request) {
                begun.signal()
                release.awaitSignal()
                return .success(ItemCount(7))
            }
        }
        begun.awaitSignal()
        for number in 0..<10_000 { _ = changes.perform(token(number), request) { .success(ItemCount(number)) } }
        // The oldest changes are evicted and made again when repeated; the newest are still cached.
        var made = 0
        for number in [0, 9_999] {
            _ = changes.perform(token(number), request) {
                made += 1
                return .success(ItemCount(number))
            }
        }
        #expect(made == 1)
        release.signal()
        var again = 0
        let answer = changes.perform(running, request) {
            again += 1
            return .success(ItemCount(0))
        }
        #expect(again == 0)
        if case .content(let count as ItemCount) = answer {
            #expect(count.count == 7)
        } else {
            Issue.record("unexpected response")
        }
    }
}

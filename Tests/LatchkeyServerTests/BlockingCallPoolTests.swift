// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeychainTesting
import LatchkeyClient
@_spi(Testing) import LinuxSystem
import Testing

@Suite("Threads for blocking calls")
struct BlockingCallPoolTests {
    @Test("All calls run, on a limited number of threads that end when there are no more calls")
    func limited() {
        let pool = BlockingCallPool(idleMilliseconds: 1)
        let (started, ended) = (EventCount(), EventCount())
        let gate = DispatchSemaphore(value: 0)
        for _ in 0..<100 {
            pool.run {
                started.increase()
                gate.awaitSignal()
                ended.increase()
            }
        }
        #expect(eventually { started.value == BlockingCallPool.maxThreads })
        #expect(pool.threadCount == BlockingCallPool.maxThreads)
        for _ in 0..<100 { gate.signal() }
        #expect(eventually { ended.value == 100 })
        #expect(eventually { pool.threadCount == 0 })
        pool.run { ended.increase() }
        #expect(eventually { ended.value == 101 })
    }

    @Test("A thread without a call takes the next one")
    func reused() {
        let pool = BlockingCallPool(idleMilliseconds: 3_600_000)
        let ended = EventCount()
        for number in 1...50 {
            pool.run { ended.increase() }
            #expect(eventually { ended.value == number })
        }
        // A thread may still be between a call and its wait when the next call arrives.
        #expect(pool.threadCount < BlockingCallPool.maxThreads)
    }

    @Test("If no thread can be created, the calling thread runs the call")
    func exhausted() {
        let pool = BlockingCallPool()
        let ended = EventCount()
        BackgroundThread.$isExhausted.withValue(true) {
            pool.run { ended.increase() }
            #expect(ended.value == 1 && pool.threadCount == 0)
        }
        pool.run { ended.increase() }
        #expect(eventually { ended.value == 2 })
    }
}

// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainTesting
import LinuxSystem
import Synchronization
import Testing

@Suite("Mutexes")
struct SystemMutexTests {
    private struct Refused: Error {}

    private final class Counter: Sendable {
        let value = SystemMutex(0)
        let switches = Atomic(0)
        let ended = Atomic(0)
    }

    /// Runs `body` in eight threads, and returns when all have ended.
    private static func inThreads(_ counter: Counter, _ body: @escaping @Sendable (Counter) -> Void) {
        for _ in 0..<8 {
            BackgroundThread.run {
                body(counter)
                counter.ended.add(1, ordering: .acquiringAndReleasing)
            }
        }
        #expect(eventually { counter.ended.load(ordering: .acquiring) == 8 })
    }

    @Test("A mutex serializes its users, also after an error")
    func serializes() throws {
        let counter = Counter()
        Self.inThreads(counter) { counter in
            for turn in 0..<10_000 {
                try? counter.value.withLock { value in
                    value += 1
                    if turn.isMultiple(of: 2) { throw Refused() }
                }
            }
        }
        #expect(counter.value.withLock { $0 } == 80_000)
    }

    @Test(
        "Eight threads that lock a mutex often switch rarely",
        .enabled(if: sysconf(Int32(_SC_NPROCESSORS_ONLN)) <= 4, "needs more threads than processors"))
    func convoy() {
        let counter = Counter()
        let turns = 20_000
        Self.inThreads(counter) { counter in
            var work = 0
            for turn in 0..<turns {
                for step in 0..<2000 { work = work &* 31 &+ step &+ turn }
                counter.value.withLock { $0 &+= work & 1 }
            }
            var usage = rusage()
            // RUSAGE_THREAD. Glibc does not import it.
            getrusage(1, &usage)
            counter.switches.add(usage.ru_nvcsw, ordering: .relaxed)
        }
        // With a mutex that is passed to the waiting thread, nearly every lock is a switch.
        let switches = counter.switches.load(ordering: .relaxed)
        #expect(switches < 8 * turns / 10, "\(switches) switches for \(8 * turns) locks")
    }
}

// SPDX-License-Identifier: Apache-2.0

import LinuxSystem
import Testing

@testable import LatchkeyURLSession

/// Time limits that share one task.
@Suite("Deadlines")
struct DeadlinesTests {
    @Test("Deadlines that were set in any order come in their order, and cancelled ones do not")
    func order() async throws {
        let deadlines = Deadlines()
        let (events, source) = AsyncStream.makeStream(of: Int.self)
        let never = deadlines.after(1_000_000_000) { source.yield(0) }
        let last = deadlines.after(0.3) {
            source.yield(3)
            source.finish()
        }
        let cancelled = deadlines.after(0.02) { source.yield(-1) }
        let second = deadlines.after(0.1) { source.yield(2) }
        let first = deadlines.after(0.05) { source.yield(1) }
        cancelled.cancel()
        var came: [Int] = []
        for await event in events { came.append(event) }
        #expect(came == [1, 2, 3])
        for deadline in [never, last, second, first] { deadline.cancel() }
    }

    @Test("A deadline that has come can set another one")
    func nested() async throws {
        let deadlines = Deadlines()
        let (events, source) = AsyncStream.makeStream(of: Int.self)
        _ = deadlines.after(0) {
            source.yield(1)
            _ = deadlines.after(0) { source.finish() }
        }
        var came: [Int] = []
        for await event in events { came.append(event) }
        #expect(came == [1])
    }
}

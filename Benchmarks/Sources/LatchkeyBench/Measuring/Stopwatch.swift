// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Measures single calls: their duration, or, under a profiler, their instructions.
enum Stopwatch {
    /// Whether the calls are marked for a profiler. Only ``CallsCommand`` sets it.
    nonisolated(unsafe) static var marksCalls = false  // because this process has one thread

    /// Runs `body` and returns its duration. Reading the clock takes about 40 ns, the same on both
    /// sides.
    @inline(__always)
    static func time<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> (result: Result, nanoseconds: UInt64) {
        if marksCalls { return (try marked(body), 0) }
        let start = now()
        let result = try body()
        return (result, now() - start)
    }

    /// Runs `body` and returns its duration in seconds.
    static func seconds(_ body: () throws -> Void) throws -> Double {
        Double(try time(body).nanoseconds) / 1e9
    }

    /// Runs `body` in a function that a profiler finds by its name.
    private static func marked<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var outcome: Swift.Result<Result, Failure>?
        markedCall { outcome = Swift.Result { () throws(Failure) in try body() } }
        guard let outcome else { preconditionFailure("markedCall runs its closure") }
        return try outcome.get()
    }

    static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// Runs `body`. `valgrind --tool=callgrind --toggle-collect='*markedCall*'` counts only the instructions in it.
@inline(never)
@_optimize(none)
private func markedCall(_ body: () -> Void) {
    body()
}

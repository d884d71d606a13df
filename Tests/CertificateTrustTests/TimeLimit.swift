// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import Testing

/// The maximum time for a verdict or an error, for any input: 20 ms in optimized code, checked by `make prompt`.
/// Unoptimized code takes up to fifty times as long and has a limit of a second.
enum TimeLimit {
    #if DEBUG
        static let bound = 1.0
    #else
        static let bound = 0.020
    #endif

    /// Checks that `work` takes at most `times` limits. Only the CPU time of this thread counts,
    /// because other threads run in parallel.
    static func within<Result>(
        _ times: Double = 1, _ what: String = "", sourceLocation: SourceLocation = #_sourceLocation,
        _ work: () throws -> Result
    ) rethrows -> Result {
        let start = ThreadTime.now
        let result = try work()
        let taken = ThreadTime.now - start
        #expect(taken < bound * times, "\(what): \(taken * 1000) ms", sourceLocation: sourceLocation)
        return result
    }
}

// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import Testing

/// How long a verdict or an error may take, whatever the input: 20 ms, held by `make prompt`, which optimises. Code that is not optimised takes up
/// to fifty times as long.
enum TimeLimit {
    #if DEBUG
        static let bound = 1.0
    #else
        static let bound = 0.020
    #endif

    /// Runs `work` within the bound. What counts is the time of this thread, since others run beside it.
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

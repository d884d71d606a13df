// SPDX-License-Identifier: Apache-2.0

/// An operation that did not do what it should: which one, on which side, and what came instead. It ends the run.
struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

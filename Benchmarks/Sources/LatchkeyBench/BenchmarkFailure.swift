// SPDX-License-Identifier: Apache-2.0

/// A failed operation: which one, on which side, and what it returned instead. It ends the run.
struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

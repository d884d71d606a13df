// SPDX-License-Identifier: Apache-2.0

/// An operation that a benchmark needs has failed.
struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

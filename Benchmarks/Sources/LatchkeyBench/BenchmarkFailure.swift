// SPDX-License-Identifier: Apache-2.0

/// A failed operation: its name, its side, and its unexpected result. It ends the run.
struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

// SPDX-License-Identifier: Apache-2.0

/// One side of the comparison. It contains the items 0..<size.
protocol Contender {
    /// The name in failure messages.
    var name: String { get }

    /// Makes the call once, and verifies the result. The preparation and the verification are not
    /// timed.
    ///
    /// - Returns: the duration in nanoseconds.
    func time(_ call: KeychainCall, on item: Item, size: Int) throws -> UInt64
}

extension Contender {
    /// Returns the error for a call with a wrong result.
    func failure(_ call: KeychainCall, _ item: Item, _ found: String) -> BenchmarkFailure {
        BenchmarkFailure("\(name): \(call.title), item \(item.number): \(found)")
    }
}

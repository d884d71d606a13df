// SPDX-License-Identifier: Apache-2.0

/// One side of the comparison, which holds the items 0..<size.
protocol Contender {
    /// How failures call it.
    var name: String { get }

    /// Does the call once, and sees to it that the answer is right. Preparing the call and judging the answer are not timed.
    ///
    /// - Returns: nanoseconds.
    func time(_ call: KeychainCall, on item: Item, size: Int) throws -> UInt64
}

extension Contender {
    /// The call did not do what it should.
    func failure(_ call: KeychainCall, _ item: Item, _ found: String) -> BenchmarkFailure {
        BenchmarkFailure("\(name): \(call.title), item \(item.number): \(found)")
    }
}

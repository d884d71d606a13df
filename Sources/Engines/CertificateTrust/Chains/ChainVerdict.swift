// SPDX-License-Identifier: Apache-2.0

/// What came of the search for a chain.
public struct ChainVerdict: Sendable {
    /// The chain that keeps every rule; nil where there is none.
    public let chain: Chain?
    /// What was tried before, in its order.
    public let attempts: [ChainAttempt]

    /// Why there is no chain: what is wrong with the attempt that came furthest.
    public var failure: TrustFailure? {
        guard chain == nil else { return nil }
        return best?.failure ?? TrustFailure(.untrusted, at: 0, "no anchor is known")
    }

    /// The attempt that came furthest: to an anchor, or else the longest.
    public var best: ChainAttempt? {
        attempts.first { $0.failure.rule != .untrusted && $0.failure.rule != .signature }
            ?? attempts.max {
                $0.certificates.count < $1.certificates.count
            }
    }
}

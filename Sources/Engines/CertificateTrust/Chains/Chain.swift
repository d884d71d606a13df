// SPDX-License-Identifier: Apache-2.0

/// Certificates each of which bears the name of the next as its issuer: the leaf first, an anchor last.
public struct Chain: Sendable {
    public let certificates: [Certificate]

    public var leaf: Certificate { certificates[0] }
    /// The certificates that have issued another, from the leaf's issuer to the anchor.
    var issuers: ArraySlice<Certificate> { certificates.dropFirst() }
}

/// A chain that was tried, and why it was not accepted.
public struct ChainAttempt: Sendable {
    public let certificates: [Certificate]
    public let failure: TrustFailure
}

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

// SPDX-License-Identifier: Apache-2.0

/// A chain that was tried, and why it was not accepted.
public struct ChainAttempt: Sendable {
    public let certificates: [Certificate]
    /// At least one; of each rule the first, of validity one a certificate. That of the attempt that came furthest are all there are, of others those that ended them.
    public let failures: [TrustFailure]
    /// Whether the chain is whole, so that all that is wrong with it is known.
    public let reachesAnchor: Bool

    public var failure: TrustFailure { failures[0] }

    /// A path that ends before an anchor.
    init(_ certificates: [Certificate], stoppedBy failures: [TrustFailure]) {
        self.certificates = certificates
        self.failures = failures
        reachesAnchor = false
    }

    /// A whole chain that breaks rules.
    init(_ chain: Chain, breaking failures: [TrustFailure]) {
        certificates = chain.certificates
        self.failures = failures
        reachesAnchor = true
    }
}

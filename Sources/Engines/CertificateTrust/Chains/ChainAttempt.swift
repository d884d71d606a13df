// SPDX-License-Identifier: Apache-2.0

/// A chain that was tried, and the failures that rejected it.
public struct ChainAttempt: Sendable {
    public let certificates: [Certificate]
    /// At least one failure: the first of each rule, and one per certificate for the validity
    /// period. The best attempt has all failures; another attempt only those that ended it.
    public let failures: [TrustFailure]
    /// Whether the chain ends in an anchor, so that all its failures are known.
    public let reachesAnchor: Bool

    public var failure: TrustFailure { failures[0] }

    /// An attempt that does not reach an anchor.
    init(_ certificates: [Certificate], stoppedBy failures: [TrustFailure]) {
        self.certificates = certificates
        self.failures = failures
        reachesAnchor = false
    }

    /// A complete chain that breaks rules.
    init(_ chain: Chain, breaking failures: [TrustFailure]) {
        certificates = chain.certificates
        self.failures = failures
        reachesAnchor = true
    }
}

extension TrustFailure {
    /// The index of the certificate that cannot be the issuer of the one below, if that ended an
    /// attempt.
    var unfitIssuer: Int? {
        switch rule {
        case .signature, .algorithm: index + 1
        case .authority, .signingUsage, .keyIdentifier, .key: index
        default: nil
        }
    }
}

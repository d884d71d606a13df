// SPDX-License-Identifier: Apache-2.0

/// The result of an evaluation. Two results mean that the chain is trusted: `.unspecified`, because
/// it satisfies every rule, and `.proceed`, because of a user's decision.
public enum SecTrustResultType: UInt32, Sendable {
    /// No evaluation has taken place.
    case invalid = 0
    /// Trusted by a user's decision.
    case proceed = 1
    /// No longer used.
    @available(*, deprecated) case confirm = 2
    /// Denied by the user.
    case deny = 3
    /// Trusted: the chain leads to an anchor and satisfies every rule.
    case unspecified = 4
    /// Not trusted, for a reason that the user may ignore.
    case recoverableTrustFailure = 5
    /// Not trusted, for a reason that cannot be ignored.
    case fatalTrustFailure = 6
    /// The evaluation failed.
    case otherError = 7
}

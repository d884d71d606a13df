// SPDX-License-Identifier: Apache-2.0

/// What came of an evaluation. Trusted are `.unspecified`, because the chain keeps every rule, and `.proceed`, because the user said so.
public enum SecTrustResultType: UInt32, Sendable {
    /// Nothing was evaluated yet.
    case invalid = 0
    /// Trusted because the user said so.
    case proceed = 1
    /// Not used any more.
    @available(*, deprecated) case confirm = 2
    /// The user forbids it.
    case deny = 3
    /// Trusted: the chain leads to an anchor and keeps every rule.
    case unspecified = 4
    /// Not trusted, for a reason that the user may overlook.
    case recoverableTrustFailure = 5
    /// Not trusted, for a reason that nobody may overlook.
    case fatalTrustFailure = 6
    /// The evaluation itself failed.
    case otherError = 7
}

// SPDX-License-Identifier: Apache-2.0

/// The result of an evaluation. The values are Apple's `SecTrustResultType`.
public enum TrustResult: UInt32, Sendable {
    /// Trusted because of a decision of the user.
    case proceed = 1
    /// Denied by the user.
    case deny = 3
    /// Trusted: the chain reaches an anchor and satisfies every rule.
    case unspecified = 4
    /// Not trusted; the user may accept the failures.
    case recoverableTrustFailure = 5
    /// Not trusted; the failures cannot be ignored.
    case fatalTrustFailure = 6

    public var isTrusted: Bool { self == .proceed || self == .unspecified }
}

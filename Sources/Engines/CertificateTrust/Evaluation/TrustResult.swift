// SPDX-License-Identifier: Apache-2.0

/// How a chain was judged. The numbers are Apple's `SecTrustResultType`.
public enum TrustResult: UInt32, Sendable {
    /// Trusted because the user said so.
    case proceed = 1
    /// The user forbids it.
    case deny = 3
    /// Trusted: the chain leads to an anchor and keeps every rule.
    case unspecified = 4
    /// Not trusted, and the user may overlook it.
    case recoverableTrustFailure = 5
    /// Not trusted, and nobody may overlook it.
    case fatalTrustFailure = 6

    public var isTrusted: Bool { self == .proceed || self == .unspecified }
}

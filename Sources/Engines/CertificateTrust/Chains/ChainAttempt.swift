// SPDX-License-Identifier: Apache-2.0

/// A chain that was tried, and why it was not accepted.
public struct ChainAttempt: Sendable {
    public let certificates: [Certificate]
    public let failure: TrustFailure
}

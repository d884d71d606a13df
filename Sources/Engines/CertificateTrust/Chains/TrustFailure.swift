// SPDX-License-Identifier: Apache-2.0

/// Why a chain is not accepted.
public struct TrustFailure: Error, Hashable, Sendable {
    public let rule: TrustRule
    /// Which certificate of the chain it is about, from 0, the leaf.
    public let index: Int
    /// What was expected and what was found.
    public let explanation: String

    init(_ rule: TrustRule, at index: Int, _ explanation: String) {
        self.rule = rule
        self.index = index
        self.explanation = explanation
    }
}

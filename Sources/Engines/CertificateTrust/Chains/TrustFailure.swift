// SPDX-License-Identifier: Apache-2.0

/// Why a chain is not accepted.
///
/// The sentence is made when it is read: most refusals are a status to their caller and nothing more.
public struct TrustFailure: Error, Sendable {
    public let rule: TrustRule
    /// Which certificate of the chain it is about, from 0, the leaf.
    public let index: Int
    private let makeExplanation: @Sendable () -> String

    init(_ rule: TrustRule, at index: Int, _ explanation: @autoclosure @escaping @Sendable () -> String) {
        self.rule = rule
        self.index = index
        makeExplanation = explanation
    }

    /// What was expected and what was found.
    public var explanation: String { makeExplanation() }

    /// The same failure of the same certificate where it stands elsewhere in a chain.
    func moved(to index: Int) -> TrustFailure {
        let makeExplanation = makeExplanation
        return TrustFailure(rule, at: index, makeExplanation())
    }
}

// MARK: Hashable

extension TrustFailure: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        left.rule == right.rule && left.index == right.index && left.explanation == right.explanation
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(rule)
        hasher.combine(index)
    }
}

// SPDX-License-Identifier: Apache-2.0

/// A rule that a chain breaks: the reason that it is not accepted.
///
/// The explanation is made when it is read, because most callers use only the status.
public struct TrustFailure: Error, Sendable {
    public let rule: TrustRule
    /// The index of the certificate in the chain; 0 is the leaf.
    public let index: Int
    private let makeExplanation: @Sendable () -> String

    init(_ rule: TrustRule, at index: Int, _ explanation: @autoclosure @escaping @Sendable () -> String) {
        self.rule = rule
        self.index = index
        makeExplanation = explanation
    }

    /// The explanation, with the expected and the found value.
    public var explanation: String { makeExplanation() }

    /// The same failure for the same certificate at another index.
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

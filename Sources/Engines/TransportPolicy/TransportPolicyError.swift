// SPDX-License-Identifier: Apache-2.0

/// The error for a setting or a file that is not valid.
public struct TransportPolicyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problem, with the expected and the found value.
    public let problem: String
    /// The text to write instead; nil if the problem says so.
    public let hint: String?

    init(_ problem: String, hint: String? = nil) { (self.problem, self.hint) = (problem, hint) }

    public var description: String { hint.map { "\(problem); \($0)" } ?? problem }
}

extension StringProtocol {
    /// The text in quotation marks, at most its first 80 characters: settings can be of any length.
    var quoted: String {
        let start = prefix(80)
        return "'\(start)\(start.endIndex == endIndex ? "" : "…")'"
    }
}

// SPDX-License-Identifier: Apache-2.0

/// What is wrong with bytes that are not a property list that is read here.
public struct PropertyListError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What was expected or found, without any of the file's own text.
    public let problem: String
    /// The line on which it was noticed, from 1 on; nil where it is about the whole.
    public let line: Int?

    public init(_ problem: String, line: Int? = nil) {
        self.problem = problem
        self.line = line
    }

    public var description: String { line.map { "line \($0): \(problem)" } ?? problem }
}

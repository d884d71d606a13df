// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not a supported property list.
public struct PropertyListError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The expected or found data, without text of the file.
    public let problem: String
    /// The line of the error, starting with 1; nil if the error concerns the whole list.
    public let line: Int?

    public init(_ problem: String, line: Int? = nil) {
        self.problem = problem
        self.line = line
    }

    public var description: String { line.map { "line \($0): \(problem)" } ?? problem }
}

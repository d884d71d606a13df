// SPDX-License-Identifier: Apache-2.0

/// Where a person can be asked: the terminal and the display of the program that causes the
/// question.
///
/// A service has neither, so the program sends its own. Every value is well-formed (``PromptVariable``); that the
/// person sees the display is not proven.
public struct PromptPlace: Sendable, Hashable {
    /// The well-formed values.
    public let variables: [PromptVariable: String]
    /// The values that were sent but are not well-formed, and therefore are not used.
    public let ignored: [PromptVariable]

    /// No terminal and no display.
    public static let none = PromptPlace([:])

    /// Keeps the values that are well-formed.
    public init(_ values: [PromptVariable: String]) {
        variables = values.filter { $0.accepts($1) }
        ignored = PromptVariable.allCases.filter { variable in
            values[variable].map { !$0.isEmpty && !variable.accepts($0) } ?? false
        }
    }

    /// A well-formed value; nil if the program sent none.
    public subscript(variable: PromptVariable) -> String? { variables[variable] }

    /// The place without its terminal.
    public var withoutTerminal: PromptPlace { PromptPlace(variables.filter { $0.key != .terminal }) }

    /// Whether a graphical program can ask.
    public var hasDisplay: Bool { variables[.display] != nil || variables[.waylandDisplay] != nil }

    /// Whether a program can ask on a terminal.
    public var hasTerminal: Bool { variables[.terminal] != nil }
}

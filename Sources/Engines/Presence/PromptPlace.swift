// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// Where a person can be asked: the terminal and the display of the program that causes the
/// question.
///
/// A service has neither, so the program sends its own. Every value is well-formed
/// (``PromptVariable``); it is not proven that the person sees what is displayed there.
public struct PromptPlace: Sendable, Hashable {
    private let values: [PromptVariable: String]
    /// The values that were sent but are not well-formed, and therefore are not used.
    public let ignored: [PromptVariable]

    /// No terminal and no display.
    public static let none = PromptPlace([:])

    /// Keeps the values that are well-formed.
    public init(_ values: [PromptVariable: String]) {
        self.values = values.filter { $0.accepts($1) }
        ignored = PromptVariable.allCases.filter { variable in
            values[variable].map { !$0.isEmpty && !variable.accepts($0) } ?? false
        }
    }

    /// The place of this process, from its standard streams and its environment.
    public static func ofThisProcess() -> PromptPlace {
        var values: [PromptVariable: String] = [:]
        for variable in PromptVariable.allCases where variable != .terminal {
            values[variable] = SecureEnvironment.value(of: variable.rawValue)
        }
        values[.terminal] = OpenTerminal.pathOfThisProcess()
        return PromptPlace(values)
    }

    /// A well-formed value; nil if the program sent none.
    public subscript(variable: PromptVariable) -> String? { values[variable] }

    /// The place without its terminal.
    var withoutTerminal: PromptPlace { PromptPlace(values.filter { $0.key != .terminal }) }

    /// Whether a graphical program can ask.
    public var hasDisplay: Bool { values[.display] != nil || values[.waylandDisplay] != nil }

    /// Whether a program can ask on a terminal.
    public var hasTerminal: Bool { values[.terminal] != nil }
}

// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The options, operands and help text of a sub-command.
struct CommandDefinition: Sendable {
    /// The sub-command's name, as on macOS.
    let name: String
    /// The one-line description.
    let summary: String
    var options: [CommandOption] = []
    /// The usage text for the operands: `[keychain...]`.
    var operands = ""
    /// The paragraphs of the help text.
    var notes: [String] = []
    /// The example command lines, without the program's name.
    var examples: [String] = []
    /// Whether the operand may come before the options, like the file of `import`. An operand after
    /// the options is also accepted.
    var takesOperandFirst = false
    /// Whether words that begin with `-` are operands, like the codes of `error`.
    var takesOnlyOperands = false

    func parse(_ words: ArraySlice<CommandWord>) throws(CommandFailure) -> ParsedArguments {
        if takesOperandFirst, let first = words.first, !first.hasPrefix("-") {
            return try ParsedArguments(words.dropFirst() + [first], options: options)
        }
        // Without options, everything after `--` is an operand.
        if takesOnlyOperands { return try ParsedArguments((["--"] + words)[...], options: options) }
        return try ParsedArguments(words, options: options)
    }

    /// Returns the usage line and the help text.
    func usage(of program: Program) -> TerminalText {
        var lines = Self.wrapped(usageWords(program), indent: "        ")
        lines += ["", summary]
        if !options.isEmpty {
            lines.append("")
            let width = (options.map(\.synopsis.count).max() ?? 0) + 2
            lines += options.map { option in
                "    \(option.synopsis)\(String(repeating: " ", count: width - option.synopsis.count))\(option.help)"
            }
        }
        for note in notes {
            lines.append("")
            lines += Self.wrapped(note.split(separator: " ").map(String.init), indent: "")
        }
        if !examples.isEmpty {
            lines += ["", "examples:"]
            lines += examples.map { "    \(program.rawValue) \($0)" }
        }
        return TerminalText(lines: lines.joined(separator: "\n") + "\n")
    }

    /// Returns the parts of the usage line. Lines are never broken inside a part.
    private func usageWords(_ program: Program) -> [String] {
        var words = ["usage:", program.rawValue, name]
        let flags = options.filter { option in
            if case .none = option.value { option.isShort } else { false }
        }
        if !flags.isEmpty { words.append("[-\(flags.map { $0.name.dropFirst() }.joined())]") }
        for option in options {
            if case .none = option.value, option.isShort { continue }
            words.append(option.isRequired ? option.synopsis : "[\(option.synopsis)]")
        }
        if !operands.isEmpty { words.append(operands) }
        return words
    }

    private static func wrapped(_ words: [String], indent: String) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in words {
            if line.isEmpty {
                line = (lines.isEmpty ? "" : indent) + word
            } else if line.count + 1 + word.count > width {
                lines.append(line)
                line = indent + word
            } else {
                line += " " + word
            }
        }
        return line.isEmpty ? lines : lines + [line]
    }

    private static let width = 90
}

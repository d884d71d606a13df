// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The options, operands and help text of a sub-command: of one of macOS's, or of a ``DailyCommand``.
struct CommandDefinition: Sendable {
    /// The sub-command's name.
    let name: String
    /// The one-line description.
    let summary: String
    var options: [CommandOption] = []
    /// The usage text for the operands: `[keychain...]`.
    var operands = ""
    /// The description of the operand, for the help of a daily command.
    var operandHelp = ""
    /// The paragraphs of the help text.
    var notes: [String] = []
    /// The example command lines; those of macOS's commands without the program's name.
    var examples: [String] = []
    /// Whether the operand may come before the options, like the file of `import`. An operand after
    /// the options is also accepted.
    var takesOperandFirst = false
    /// Whether words that begin with `-` are operands, like the codes of `error`.
    var takesOnlyOperands = false
    var rules = ParsedArguments.Rules.macOS

    func parse(_ words: ArraySlice<CommandWord>) throws(CommandFailure) -> ParsedArguments {
        if takesOperandFirst, let first = words.first, !first.hasPrefix("-") {
            return try ParsedArguments(words.dropFirst() + [first], options: options)
        }
        // Without options, everything after `--` is an operand.
        if takesOnlyOperands { return try ParsedArguments((["--"] + words)[...], options: options) }
        return try ParsedArguments(words, options: options, rules: rules)
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
            lines += Self.wrapped(Self.words(of: note), indent: "")
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

    // MARK: Help

    /// Returns the help of a daily command, in the shape of that of the other commands of `latchkey`.
    ///
    /// - Parameter columns: the width of the terminal; nil for 80.
    func help(columns: Int?) -> TerminalText {
        let width = max(columns ?? 80, Self.helpColumn + 20)
        var lines = Self.wrapped(Self.words(of: "OVERVIEW: \(summary)"), indent: "", width: width)
        for note in notes { lines += [""] + Self.wrapped(Self.words(of: note), indent: "", width: width) }
        lines += ["", "EXAMPLES:"] + examples.map { "  \($0)" }
        lines += ["", "USAGE: latchkey \(name) [<options>] [<\(operands)>]"]
        lines += ["", "ARGUMENTS:"] + Self.row("<\(operands)>", operandHelp, width)
        lines += ["", "OPTIONS:"]
        for option in options where !option.isHidden {
            let names = option.names.joined(separator: ", ")
            lines += Self.row(option.value.name.map { "\(names) <\($0)>" } ?? names, option.fullHelp, width)
        }
        return TerminalText(lines: lines.joined(separator: "\n") + "\n")
    }

    /// Returns the lines of a term and its text. The text of a long term begins below it.
    private static func row(_ term: String, _ text: String, _ width: Int) -> [String] {
        let indent = String(repeating: " ", count: helpColumn)
        var lines = wrapped(words(of: text), indent: "", width: width - helpColumn).map { indent + $0 }
        let start = "  \(term)"
        guard start.count < helpColumn, let first = lines.first else { return [start] + lines }
        lines[0] = start + first.dropFirst(start.count)
        return lines
    }

    private static let helpColumn = 26

    // MARK: Words

    private static func words(of text: String) -> [String] { text.split(separator: " ").map(String.init) }

    /// Returns lines of at most `width` columns; the second and further ones are indented.
    private static func wrapped(_ words: [String], indent: String, width: Int = width) -> [String] {
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

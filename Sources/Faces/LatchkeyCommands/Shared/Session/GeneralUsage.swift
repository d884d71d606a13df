// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The usage text of the program, with the list of its commands.
enum GeneralUsage {
    static func text(for program: Program) -> TerminalText {
        switch program {
        case .security: security
        case .latchkey: latchkey
        }
    }

    // MARK: As security

    private static var security: TerminalText {
        var lines = optionLines(of: .security)
        lines += ["", "commands of macOS's security (may be abbreviated):"]
        lines += macOSRows
        lines += ["", "commands of Latchkey:"]
        lines += LatchkeySubcommand.allCases.filter { !$0.isDaily }.map { row($0.rawValue, $0.abstract) }
        lines += ["", "'security help COMMAND' describes a command."]
        return text(lines)
    }

    private static func optionLines(of program: Program) -> [String] {
        ["usage: \(program.rawValue) [-hilqv] [-p prompt] [command [options] [arguments]]", ""]
            + GlobalOptions.options.filter { $0.name != "-R" }.map { row($0.synopsis, $0.help) }
    }

    private static var macOSRows: [String] {
        CommandTable.entries.compactMap { entry in
            guard case .implemented(let command) = entry.support else { return nil }
            return row(entry.name, command.definition.summary)
        }
    }

    // MARK: As latchkey

    /// One screen: fewer than 24 lines, so that the prompt fits below them, of at most 80 columns.
    private static var latchkey: TerminalText {
        var lines = [
            "usage: latchkey [-hiqv] COMMAND [options]", "",
            "Apple's keychain for Linux. An item has the name SERVICE/ACCOUNT.", "",
        ]
        lines += CommandFamily.daily.members.map { shortRow($0.rawValue, $0.abstract) }
        lines += ["", "families of commands:"]
        lines += CommandFamily.allCases.filter { $0 != .daily }.map { shortRow($0.rawValue, members(of: $0)) }
        lines += [
            "", "'latchkey help COMMAND' and 'latchkey help FAMILY' describe them.", "",
            "example: printf %s \"$TOKEN\" | latchkey set api.example.com/deploy",
        ]
        return text(lines)
    }

    /// Returns the names of a family's commands; with their purpose, if there are few.
    private static func members(of family: CommandFamily) -> String {
        let extended = family.extendedMembers.map { $0.definition.name }
        let names = (family.members.map(\.rawValue) + extended).joined(separator: ", ")
        if names.isEmpty { return family.summary }
        return family.members.count > 2 ? names : "\(names) (\(family.summary))"
    }

    /// The list of a family's commands.
    static func text(of family: CommandFamily) -> TerminalText {
        if family == .macos { return macOS }
        let rows =
            family.members.map { shortRow($0.rawValue, $0.abstract) }
            + family.extendedMembers.map { shortRow($0.definition.name, $0.definition.summary) }
        return text(
            ["\(family.rawValue): \(family.summary)", ""] + rows + ["", "'latchkey help COMMAND' describes a command."])
    }

    private static var macOS: TerminalText {
        text(
            optionLines(of: .latchkey) + ["", "commands of macOS's security:"] + macOSRows
                + ["", "'latchkey help COMMAND' describes a command."])
    }

    // MARK: Lines

    private static func text(_ lines: [String]) -> TerminalText {
        TerminalText(lines: lines.joined(separator: "\n") + "\n")
    }

    private static func row(_ name: String, _ text: String) -> String {
        "    \(name)\(String(repeating: " ", count: max(38 - name.count, 1)))\(text)"
    }

    private static func shortRow(_ name: String, _ text: String) -> String {
        "  \(name)\(String(repeating: " ", count: max(15 - name.count, 1)))\(text)"
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The usage text of the program, with the list of its commands.
enum GeneralUsage {
    static func text(for program: Program) -> TerminalText {
        var lines = ["usage: \(program.rawValue) [-hilqv] [-p prompt] [command [options] [arguments]]", ""]
        lines += GlobalOptions.options.filter { $0.name != "-R" }.map { row($0.synopsis, $0.help) }
        lines += ["", "commands of macOS's security\(program == .security ? ", which may be abbreviated" : ""):"]
        for entry in CommandTable.entries {
            if case .implemented(let command) = entry.support {
                lines.append(row(entry.name, command.definition.summary))
            }
        }
        lines += ["", "commands of Latchkey:"]
        lines += LatchkeySubcommand.allCases.map { row($0.rawValue, $0.abstract) }
        lines += ["", "'\(program.rawValue) help COMMAND' describes a command."]
        return TerminalText(lines: lines.joined(separator: "\n") + "\n")
    }

    private static func row(_ name: String, _ text: String) -> String {
        "    \(name)\(String(repeating: " ", count: max(38 - name.count, 1)))\(text)"
    }
}

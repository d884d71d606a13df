// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// `security help`.
enum HelpCommand: SecurityCommand {
    static let definition = CommandDefinition(
        name: "help",
        summary: "Show all commands, or the usage of some.",
        operands: "[command...]",
        examples: ["help", "help find-generic-password"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        guard !arguments.operands.isEmpty else { return try session.write(GeneralUsage.text(for: session.program)) }
        var isUnknown = false
        var names = arguments.operands[...]
        while let name = names.popFirst() {
            if session.program == .latchkey, let own = LatchkeySubcommand(name.text, for: .latchkey) {
                let help = own.help(of: names.map(\.text), columns: session.io.columns)
                names = names.dropFirst(help.used)
                try session.write(help.text)
            } else if let text = text(for: name, in: session) {
                try session.write(text)
            } else {
                session.reportUsage("unknown command \"\(name.text)\"", as: session.program)
                isUnknown = true
            }
        }
        if isUnknown { throw .reported(1) }
    }

    private static func text(for name: CommandWord, in session: CommandSession) -> TerminalText? {
        let own = LatchkeySubcommand(name.text, for: session.program)
        if session.program == .latchkey, let family = CommandFamily(rawValue: name.text) {
            return GeneralUsage.text(of: family)
        }
        guard let entry = CommandTable.entry(name, for: session.program) else {
            return own?.help(columns: session.io.columns)
        }
        return switch entry.support {
        case .implemented(let command): command.definition.usage(of: session.program)
        case .planned: "\(entry.name) is not supported by this version.\n"
        case .unsupported: "\(entry.name) is not supported on this system.\n"
        }
    }
}

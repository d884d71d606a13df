// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// A command for daily use. Its parser is that of macOS's commands: swift-argument-parser takes longer than the
/// command.
protocol DailyCommand: Sendable {
    static var definition: CommandDefinition { get }

    /// - Throws: a usage failure.
    init(_ arguments: ParsedArguments) throws(CommandFailure)

    func run(in session: CommandSession) throws(CommandFailure)
}

extension DailyCommand {
    /// Parses the words after the command's name, runs the command and reports its failure.
    ///
    /// - Returns: the status; 0 is success.
    static func execute(_ words: ArraySlice<CommandWord>, in session: CommandSession) -> Int32 {
        do throws(CommandFailure) {
            let command: Self
            do throws(CommandFailure) {
                let asked = words.prefix { $0 != "--" }
                if asked.contains("--help") || asked.contains("-h") { return try help(in: session) }
                if asked.contains("--version") {
                    try session.write("\(LatchkeyVersion.current)\n")
                    return 0
                }
                let arguments = try definition.parse(words)
                // In a cluster: `-fh`.
                if arguments.contains("--help") { return try help(in: session) }
                command = try Self(arguments)
            } catch .usage(let problem?) {
                session.reportUsage("\(problem)", hint: "latchkey \(definition.name) --help")
                return CommandFailure.usage(nil).status
            }
            try command.run(in: session)
            return 0
        } catch {
            session.report(error, of: definition.name, as: .latchkey)
            return error.status
        }
    }

    private static func help(in session: CommandSession) throws(CommandFailure) -> Int32 {
        try session.write(definition.help(columns: session.io.columns))
        return 0
    }
}

extension CommandDefinition {
    /// Returns the definition of a command for daily use, with one operand.
    ///
    /// - Parameter refusal: the message for an unknown option that can be a secret.
    static func daily(
        _ command: LatchkeySubcommand, notes: String, examples: [String], operand: String, operandHelp: String,
        options: [CommandOption], refusal: String? = nil
    ) -> CommandDefinition {
        CommandDefinition(
            name: command.rawValue, summary: command.abstract, options: options + information, operands: operand,
            operandHelp: operandHelp, notes: [notes], examples: examples, rules: .latchkey(refusal: refusal))
    }

    private static let information = [
        CommandOption("--version", help: "Show the version."),
        CommandOption("--help", or: "-h", help: "Show help information."),
    ]
}

// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// Finds the sub-command for a line of words, and runs it.
enum Dispatcher {
    /// - Parameter words: the command's name and its arguments; never empty.
    /// - Returns: the status; 0 is success.
    static func execute(_ words: ArraySlice<CommandWord>, in session: CommandSession) -> Int32 {
        guard let name = words.first else { return 0 }
        if session.program == .latchkey, name.text == LoginPasswordCommand.name {
            return LoginPasswordCommand.execute(words.dropFirst(), in: session)
        }
        let own = LatchkeySubcommand(name.text, for: session.program)
        if let own, session.program == .latchkey { return own.execute(words, in: session) }
        if let entry = CommandTable.entry(name, for: session.program) {
            return run(entry, words.dropFirst(), in: session)
        }
        if let own { return own.execute(words, in: session) }
        refuse(name, in: session)
        return 1
    }

    /// Reports an unknown command, and suggests a similar one.
    private static func refuse(_ name: CommandWord, in session: CommandSession) {
        let program = session.program.rawValue
        let suggestion = Suggestion.command(for: name.text, in: session.program)
        let question: TerminalText = suggestion.map { "did you mean '\(program) \($0)'? " } ?? ""
        session.reportUsage(
            "unknown command \"\(name.text)\"", hint: "\(question)\(program) help", as: session.program)
    }

    private static func run(
        _ entry: CommandTable.Entry, _ words: ArraySlice<CommandWord>, in session: CommandSession
    ) -> Int32 {
        switch entry.support {
        case .implemented(let command):
            if command.definition.name == ImportItems.definition.name, KeyringImport.isMeant(by: words) {
                return KeyringImport.execute(words, in: session)
            }
            return command.execute(words, in: session)
        case .planned:
            let error = KeychainError(
                .unimplemented, "\(entry.name) is not supported by this version",
                hint: "'\(session.program.rawValue) help' lists the supported commands")
            session.report(.status(error), of: entry.name)
            return error.status.rawValue
        case .unsupported:
            session.io.say("security: \(entry.name) is not supported on this system\n")
            return 1
        }
    }
}

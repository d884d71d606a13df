// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// Finds the sub-command that a line of words means, and runs it.
enum Dispatcher {
    /// - Parameter words: the command's name and what follows it; never empty.
    /// - Returns: the status; 0 is success.
    static func execute(_ words: some Collection<CommandWord>, in session: CommandSession) -> Int32 {
        guard let name = words.first else { return 0 }
        let own = OwnCommand(rawValue: name.text)
        if let own, session.program == .latchkey { return own.execute(words, in: session) }
        if let entry = CommandTable.entry(abbreviated: name) { return run(entry, words.dropFirst(), in: session) }
        if let own { return own.execute(words, in: session) }
        session.io.say("security: unknown command \"\(name.text)\"\n")
        if !session.isQuiet { session.io.say("hint: \(session.program.rawValue) help\n") }
        return 1
    }

    private static func run(_ entry: CommandTable.Entry, _ words: some Collection<CommandWord>, in session: CommandSession) -> Int32 {
        switch entry.support {
        case .built(let command):
            return command.execute(words, in: session)
        case .later:
            let error = KeychainError(
                .unimplemented, "\(entry.name) is not supported by this version",
                hint: "'\(session.program.rawValue) help' lists the commands that are")
            session.report(.status(error), of: entry.name)
            return error.status.rawValue
        case .foreign:
            session.io.say("security: \(entry.name) is not supported on this system\n")
            return 1
        }
    }
}

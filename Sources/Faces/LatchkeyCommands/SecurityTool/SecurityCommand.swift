// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// A sub-command of macOS's `security`.
protocol SecurityCommand: Sendable {
    static var definition: CommandDefinition { get }

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure)
}

extension SecurityCommand {
    /// Parses the words after the command's name, runs the command and reports its failure.
    ///
    /// - Returns: the status; 0 is success.
    static func execute(_ words: ArraySlice<CommandWord>, in session: CommandSession) -> Int32 {
        let definition = definition
        do throws(CommandFailure) {
            if words.first == "--help" {
                try session.write(definition.usage(of: session.program))
                return 0
            }
            let arguments = try definition.parse(words)
            try PasscodeSource(arguments).unlockOnDemand(in: session)
            try run(arguments, in: session)
            return 0
        } catch {
            session.report(error, of: definition.name)
            if case .usage = error { session.io.say(definition.usage(of: session.program)) }
            return error.status
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
internal import KeychainModel
internal import LinuxSystem

/// Runs the commands of a companion program, as `latchkey` runs its own.
package enum CompanionCommands {
    /// Runs one command line.
    ///
    /// - Parameters:
    ///   - root: of the tree of commands.
    ///   - words: the command line without the program's name.
    /// - Returns: the exit value of the process.
    package static func exitValue(
        of root: any ParsableCommand.Type, _ words: [CommandWord], in session: CommandSession
    ) -> Int32 {
        Int32(OSStatusCode(rawValue: status(of: root, words, in: session)).exitCode)
    }

    /// Runs one command line, and returns its status.
    package static func status<Root: ParsableCommand>(
        of root: Root.Type, _ words: [CommandWord], in session: CommandSession
    ) -> Int32 {
        do {
            var command = try ArgumentText.parse(root, words[...])
            guard let own = command as? any ParsableSubcommand else {
                try command.run()
                return 0
            }
            return own.exitStatus(in: session)
        } catch {
            return answer(error, of: root, to: words, in: session)
        }
    }

    /// Handles the errors of swift-argument-parser: help, a version, or a parsing error.
    private static func answer<Root: ParsableCommand>(
        _ error: any Error, of root: Root.Type, to words: [CommandWord], in session: CommandSession
    ) -> Int32 {
        guard root.exitCode(for: error) != .success else {
            let text = root.fullMessage(for: error, columns: session.io.columns)
            do throws(CommandFailure) {
                try session.write(TerminalText(lines: text.hasSuffix("\n") ? text : text + "\n"))
                return 0
            } catch {
                return error.status
            }
        }
        let names = commandNames(words.map(\.text), root).joined(separator: " ")
        session.reportUsage(
            "\(ArgumentText.shown(root.message(for: error)))",
            hint: "latchkey \(names.isEmpty ? "" : "\(names) ")--help")
        return CommandFailure.usage(nil).status
    }

    /// The words at the beginning that are names of commands.
    private static func commandNames(_ words: [String], _ root: any ParsableCommand.Type) -> [String] {
        var (names, current) = ([String](), root)
        for word in words {
            guard let next = current.configuration.subcommands.first(where: { $0._commandName == word }) else { break }
            names.append(word)
            current = next
        }
        return names
    }
}

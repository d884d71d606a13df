// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
public import LatchkeyCommands
internal import LinuxSystem

/// The command `latchkey-import`.
public enum ImportMain {
    /// Runs one command line.
    ///
    /// - Parameters:
    ///   - words: the command line; the first word is the program's name.
    ///   - io: the streams to read from and to write to.
    /// - Returns: the exit value of the process.
    public static func run(_ words: [CommandWord], io: some CommandIO) -> Int32 {
        let (session, words) = CommandSession.companion(words, io: io)
        return Int32(OSStatusCode(rawValue: status(words, in: session)).exitCode)
    }

    private static func status(_ words: [CommandWord], in session: CommandSession) -> Int32 {
        var (rest, root) = (ArraySlice(words), ImportKeyring.self as any ParsableCommand.Type)
        if rest.first.map({ $0 == "owner" }) == true { (rest, root) = (rest.dropFirst(), ServiceOwner.self) }
        do {
            var command = try ArgumentText.parse(root, rest)
            if let own = command as? any ParsableSubcommand { return own.exitStatus(in: session) }
            // The parser's own command for help, which throws its text.
            try command.run()
            return 0
        } catch {
            let text = root.fullMessage(for: error, columns: session.io.columns)
            guard root.exitCode(for: error) != .success else {
                try? session.write(TerminalText(lines: text.hasSuffix("\n") ? text : text + "\n"))
                return 0
            }
            session.reportUsage(
                "\(ArgumentText.shown(root.message(for: error)))", hint: "latchkey-import --help")
            return CommandFailure.usage(nil).status
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
public import LatchkeyCommands

/// The command `latchkey-lint`: `latchkey lint`.
public enum LintMain {
    /// Runs one command line.
    ///
    /// - Parameters:
    ///   - words: the command line; the first word is the program's name.
    ///   - io: the streams to read from and to write to.
    /// - Returns: the exit value of the process.
    public static func run(_ words: [CommandWord], io: some CommandIO) -> Int32 {
        if words.dropFirst().first.map({ $0 == CommandWord(SwiftParserServer.option) }) == true {
            return SwiftParserServer.run()
        }
        let (session, words) = CommandSession.companion(words, io: io)
        return CompanionCommands.exitValue(of: LintRoot.self, words, in: session)
    }
}

/// The root of the commands.
struct LintRoot: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latchkey", abstract: "The commands of latchkey that look for secrets.",
        version: LatchkeyVersion.current, subcommands: [LintGroup.self])

    struct LintGroup: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "lint", abstract: "Find secrets that lie in the clear.",
            subcommands: [LintScan.self, LintInstallHook.self, LintRules.self], defaultSubcommand: LintScan.self)
    }
}

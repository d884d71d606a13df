// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// The command `latchkey`; it also acts as `security`.
public enum LatchkeyMain {
    /// Runs one command line.
    ///
    /// - Parameters:
    ///   - words: the command line; the first word is the name the program was called by.
    ///   - io: the streams to read from and to write to.
    /// - Returns: the exit value of the process.
    public static func run(_ words: [CommandWord], io: some CommandIO) -> Int32 {
        let session = CommandSession(io: io, program: Program(calledAs: words.first))
        DebugLog.write(
            "\(session.program == .latchkey ? "latchkey" : "security") \(CommandName.known(in: words)), \(words.count) words"
        )
        let value = OSStatusCode(rawValue: status(of: words.dropFirst(), in: session)).exitCode
        DebugLog.write("exit value \(value)")
        return Int32(value)
    }

    /// Reports why the program cannot start.
    ///
    /// - Returns: the exit value of the process.
    public static func refuse(_ problem: String, io: some CommandIO) -> Int32 {
        io.say("\(Program(calledAs: CommandWord.ofThisProcess().first).rawValue): \(problem)\n")
        return 1
    }

    private static func status(of words: ArraySlice<CommandWord>, in session: CommandSession) -> Int32 {
        // `--help`, `--version` and `--generate-completion-script` are Latchkey's; macOS has no
        // long options.
        if session.program == .latchkey, let first = words.first, first.hasPrefix("--") {
            return LatchkeySubcommand.executeRoot(words, in: session)
        }
        return GlobalOptions.run(words, in: session)
    }
}

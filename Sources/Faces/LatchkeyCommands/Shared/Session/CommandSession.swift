// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
package import KeychainSessions
internal import LatchkeyClient
internal import LatchkeyService
package import LinuxSystem
internal import SecretMemory

/// One run of the program: its streams, the name it was called by, and its verbosity.
package struct CommandSession {
    package let io: any CommandIO
    let program: Program
    /// `-q`: no hints, and no `CMD: returned N`.
    var isQuiet = false
    /// `-v`: failures are also reported with the name of their status constant.
    var isVerbose = false
    /// Whether commands are read from standard input.
    var readsCommands = false
    /// The command that runs, and its arguments.
    var words: ArraySlice<CommandWord> = []

    package init(io: any CommandIO, program: Program) {
        self.io = io
        self.program = program
    }

    /// Returns the session of a companion program, and the words of its command line after its name and
    /// the options that ``CompanionProgram`` passes on.
    package static func companion(_ words: [CommandWord], io: any CommandIO) -> (CommandSession, [CommandWord]) {
        var session = CommandSession(io: io, program: .latchkey)
        let options = words.dropFirst().prefix { $0 == "-v" || $0 == "-q" }
        (session.isVerbose, session.isQuiet) = (options.contains("-v"), options.contains("-q"))
        return (session, Array(words.dropFirst(1 + options.count)))
    }

    /// The options of ``companion(_:io:)``.
    var verbosityOptions: [String] { (isVerbose ? ["-v"] : []) + (isQuiet ? ["-q"] : []) }

    /// Returns the keychain, and opens it on first use.
    package func keychain() throws(CommandFailure) -> KeychainSession {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try KeychainClient.session() }
    }

    // MARK: Writing

    /// Writes to standard output.
    package func write(_ text: TerminalText) throws(CommandFailure) {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try io.write(text, to: .output) }
    }

    /// Writes a secret that was formatted into `bytes`, and wipes it.
    func writeSecret(_ bytes: consuming SecretBytes, to stream: CommandStream) throws(CommandFailure) {
        do throws(KeychainError) {
            // EXPOSE: the user asked for the password to be printed.
            try bytes.withUnsafeBytes { (buffer) throws(KeychainError) in try io.write(buffer, to: stream) }
        } catch {
            throw .status(error)
        }
    }

    /// Reports a failure on standard error. On a terminal, and with `-v` everywhere, `latchkey` adds the identifier of
    /// the failure; programs that read its messages get the same text as always.
    ///
    /// - Parameter prefix: the program's name in the message. macOS's commands always use
    ///   `security`.
    package func report(_ failure: CommandFailure, of command: String, as prefix: Program = .security) {
        if let identifier = failure.identifier { DebugLog.write("failed: \(identifier)") }
        var lines = failure.lines(for: prefix, command: command)
        if isQuiet { lines.removeAll { $0.string.hasPrefix("hint: ") } }
        let identifier: TerminalText =
            prefix == .latchkey ? failure.identifier.map { " [\($0)]" } ?? "" : ""
        if io.isErrorInteractive, let first = lines.first { lines[0] = first + identifier }
        if isVerbose, let status = Self.status(of: failure, for: prefix) { lines.append("\(status)\(identifier)") }
        for line in lines { io.say("\(line)\n") }
    }

    /// Reports a command line that is not valid, in the same way.
    package func reportUsage(_ problem: TerminalText, hint: TerminalText? = nil, as prefix: Program = .latchkey) {
        DebugLog.write("failed: \(ErrorIdentifier.usage)")
        let identifier: TerminalText = prefix == .latchkey ? " [\(ErrorIdentifier.usage)]" : ""
        io.say("\(prefix.rawValue): \(problem)\(io.isErrorInteractive ? identifier : "")\n")
        if let hint, !isQuiet { io.say("hint: \(hint)\n") }
        if isVerbose, let status = Self.status(of: .usage(nil), for: prefix) { io.say("\(status)\(identifier)\n") }
    }

    /// The line of `-v`. macOS has none for a command line that is not valid.
    private static func status(of failure: CommandFailure, for prefix: Program) -> TerminalText? {
        switch failure {
        case .status(let error, _): "\(prefix.rawValue): \(error.status)"
        case .usage where prefix == .latchkey: "latchkey: the command line is not valid"
        case .usage, .line, .reported: nil
        }
    }

    /// Writes a note to standard error about behavior that differs from macOS. `-q` suppresses it.
    package func warn(_ text: TerminalText, hint: TerminalText? = nil) {
        guard !isQuiet else { return }
        io.say("security: \(text)\n")
        if let hint { io.say("hint: \(hint)\n") }
    }
}

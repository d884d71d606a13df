// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import LinuxSystem

// The commands of other programs, as `latchkey` lists them.

/// A command that another program runs.
protocol ForwardedCommand: ParsableSubcommand {
    static var program: CompanionProgram { get }
    /// The names of the command for that program.
    static var path: [String] { get }
    var words: [CommandWord] { get }
}

extension ForwardedCommand {
    static var program: CompanionProgram { .transport }

    func run(in session: CommandSession) throws(CommandFailure) {
        guard let first = words.first, first != "--help" && first != "-h" else {
            let help = LatchkeyCommand.helpMessage(for: Self.self, columns: session.io.columns)
            return try session.write(TerminalText(lines: help.hasSuffix("\n") ? help : help + "\n"))
        }
        try Self.program.run(Self.path.map { CommandWord($0) } + words, in: session)
    }
}

/// `latchkey tls`.
struct TLSCommand: ForwardedCommand {
    static let path = [LatchkeySubcommand.tls.rawValue]
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.tls.rawValue, abstract: LatchkeySubcommand.tls.abstract,
        discussion: """
            COMMANDS:
              check HOST[:PORT]    Connect to a server, and show the result of every check.

            The program latchkey-tls runs the commands; 'latchkey tls check --help' shows the options.

            EXAMPLES:
              latchkey tls check example.com
              latchkey tls check --pin sha256/… --json example.com:8443
            """)

    @Argument(
        parsing: .captureForPassthrough, help: "The command and its arguments.",
        completion: .list(["check"]))
    var words: [CommandWord] = []
}

/// `latchkey pin`.
struct PinCommand: ForwardedCommand {
    static let path = [LatchkeySubcommand.pin.rawValue]
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.pin.rawValue, abstract: LatchkeySubcommand.pin.abstract,
        discussion: """
            COMMANDS:
              add HOST       Store the pins of a host, given or of the key that it has now.
              list           List the stored pins.
              remove HOST    Delete the pins of a host.
              report HOST    Connect to a host, and compare it with its stored pins.

            The program latchkey-tls runs the commands; 'latchkey pin add --help' shows the options.

            EXAMPLES:
              latchkey pin add --pin sha256/… --backup sha256/… api.example.com
              latchkey pin add --first-use example.com
              latchkey pin report --json example.com
            """)

    @Argument(
        parsing: .captureForPassthrough, help: "The command and its arguments.",
        completion: .list(["add", "list", "remove", "report"]))
    var words: [CommandWord] = []
}

/// `latchkey ats diagnostics`.
struct ATSDiagnosticsForward: ForwardedCommand {
    static let path = [LatchkeySubcommand.ats.rawValue, "diagnostics"]
    static let configuration = CommandConfiguration(
        commandName: "diagnostics", abstract: "Find the App Transport Security exceptions that a URL needs.",
        discussion: """
            Connects with each combination of exceptions, as nscurl --ats-diagnostics does on macOS. The program \
            latchkey-tls runs the command.

            EXAMPLES:
              latchkey ats diagnostics https://example.com
              latchkey ats diagnostics --json --verbose https://example.com:8443
            """)

    @Argument(parsing: .captureForPassthrough, help: "The URL and options.")
    var words: [CommandWord] = []
}

/// `latchkey lint`.
struct LintCommand: ForwardedCommand {
    static let program = CompanionProgram.lint
    static let path = [LatchkeySubcommand.lint.rawValue]
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.lint.rawValue, abstract: LatchkeySubcommand.lint.abstract,
        discussion: """
            COMMANDS:
              [scan] PATH...    Name the secrets in files and folders.
              install-hook      Scan what is staged before each commit of a git repository.

            The program latchkey-lint runs the commands; 'latchkey lint scan --help' shows the options.

            EXAMPLES:
              latchkey lint ~/.config Sources
              latchkey lint --staged
              latchkey lint --history --json . | jq '.findings[].file'
            """)

    @Argument(
        parsing: .captureForPassthrough, help: "The command and its arguments.",
        completion: .list(["scan", "install-hook"]))
    var words: [CommandWord] = []
}

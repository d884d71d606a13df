// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LinuxSystem

/// `latchkey set`.
struct SetCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.set.rawValue, abstract: LatchkeySubcommand.set.abstract,
        discussion: """
            The secret is never an argument. It is prompted for twice on a terminal; a pipe or --secret-file is read \
            to its end, and one final line end is removed. An existing item is replaced after a question, or with \
            --update; otherwise the exit value is 45.

            EXAMPLES:
              latchkey set example.com/alice
              printf %s "$TOKEN" | latchkey set --update api.example.com/deploy
              latchkey set --secret-file id_ecdsa --raw ssh/deploy
              latchkey set --server example.com --account alice --protocol https
              latchkey set --access-control userPresence bank.example/alice
            """)

    @Argument(help: ArgumentHelp("The item; write a slash in the account as %2F.", valueName: "service/account"))
    var name: String?

    /// Words that are refused without being printed, because they may be the secret.
    @Argument(help: .hidden)
    var furtherWords: [String] = []

    @Option(
        help: ArgumentHelp("Read the secret from this file; - is standard input.", valueName: "file"),
        completion: .file())
    var secretFile: FilePath?

    @Flag(help: "Store a file or a pipe with its final line end.")
    var raw = false

    @OptionGroup var storing: StoringOptions
    @OptionGroup var options: ItemOptions
    @OptionGroup var prompting: PromptOptions
    @OptionGroup var passcode: PasscodeOptions

    @Flag(help: "Print the stored item as JSON, without the secret.")
    var json = false

    func validate() throws {
        guard furtherWords.isEmpty else {
            throw ValidationError(Self.secretRule.string)
        }
    }

    static let secretRule: TerminalText =
        "a secret is never an argument; it is read from a prompt, a pipe or --secret-file FILE"

    func run(in session: CommandSession) throws(CommandFailure) {
        passcode.source.unlockOnDemand(in: session)
        let target = try options.target(named: name)
        let prepared = try storing.prepare(target, in: PasswordItems(session, prompting.person))
        let secret = try SecretSource.read(file: secretFile, raw: raw, in: session)
        let stored = try prepared.store(secret)
        if json { return try session.write(JSONText.of(stored)) }
        session.io.say("latchkey: \(stored.action.rawValue) \(stored.item.name) in \(stored.item.accessGroup)\n")
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// `latchkey set`.
struct SetCommand: DailyCommand {
    static let definition = CommandDefinition.daily(
        .set,
        notes: """
            The secret is never an argument. It is prompted for twice on a terminal; a pipe or --secret-file is read \
            to its end, and one final line end is removed. An existing item is replaced after a question, or with \
            --update; otherwise the exit value is 45.
            """,
        examples: [
            "latchkey set example.com/alice",
            #"printf %s "$TOKEN" | latchkey set --update api.example.com/deploy"#,
            "latchkey set --secret-file id_ecdsa --raw ssh/deploy",
            "latchkey set --server example.com --account alice --protocol https",
            "latchkey set --access-control userPresence bank.example/alice",
        ],
        operand: "service/account", operandHelp: "The item; write a slash in the account as %2F.",
        options: [
            CommandOption(
                "--secret-file", .required("file"), help: "Read the secret from this file; - is standard input."),
            CommandOption("--raw", help: "Store a file or a pipe with its final line end."),
        ] + StoringOptions.options + ItemOptions.options + PromptOptions.options + PasscodeOptions.options + [
            CommandOption("--json", help: "Print the stored item as JSON, without the secret.")
        ],
        refusal: "an option is unknown; \(secretRule)")

    private static let secretRule =
        "a secret is never an argument; it is read from a prompt, a pipe or --secret-file FILE"

    private let name: String?
    private let secretFile: FilePath?
    private let raw: Bool
    private let json: Bool
    private let storing: StoringOptions
    private let options: ItemOptions
    private let person: PersonPrompt
    private let passcode: PasscodeSource

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        // Further words are not printed, because they may be the secret.
        guard arguments.operands.count < 2 else { throw .usage(Self.secretRule) }
        name = try arguments.operand()
        secretFile = arguments["--secret-file"]?.path
        raw = arguments.contains("--raw")
        json = arguments.contains("--json")
        storing = try StoringOptions(arguments)
        options = try ItemOptions(arguments)
        person = try PersonPrompt(arguments)
        passcode = try PasscodeSource(daily: arguments)
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        passcode.unlockOnDemand(in: session)
        let target = try options.target(named: name)
        let prepared = try storing.prepare(target, in: PasswordItems(session, person))
        let secret = try SecretSource.read(file: secretFile, raw: raw, in: session)
        let stored = try prepared.store(secret)
        if json { return try session.write(JSONText.of(stored)) }
        session.io.say("latchkey: \(stored.action.rawValue) \(stored.item.name) in \(stored.item.accessGroup)\n")
    }
}

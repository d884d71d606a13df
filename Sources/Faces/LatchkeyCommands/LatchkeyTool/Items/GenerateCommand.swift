// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// `latchkey generate`.
struct GenerateCommand: DailyCommand {
    static let definition = CommandDefinition.daily(
        .generate,
        notes: """
            Every character is chosen independently and with the same probability. The default is 24 letters and \
            digits: 142 bits. The secret is printed only with --reveal, also to a pipe, so that it is not left in the \
            log of a script. An existing item is replaced after a question, or with --update.
            """,
        examples: [
            "latchkey generate example.com/alice",
            "latchkey generate --symbols --length 32 db/admin && latchkey copy db/admin",
            "latchkey generate --alphabet 0123456789 --length 6 --reveal card/pin",
            "latchkey generate --update --json example.com/alice",
        ],
        operand: "service/account", operandHelp: "The item; write a slash in the account as %2F.",
        options: [
            CommandOption(
                "--length", or: "-l", value: .required("length"),
                help: "The number of characters, 1 to 1024. (default: 24)"),
            CommandOption("--symbols", help: "Letters, digits and punctuation, without quotes and the backslash."),
            CommandOption(
                "--alphabet", .required("characters"), help: "Only these characters, 2 to 256 different ones."),
            CommandOption("--reveal", help: "Print the secret, and include it in JSON."),
        ] + StoringOptions.options + ItemOptions.options + PromptOptions.options + PasscodeOptions.options + [
            CommandOption("--json", help: "Print the stored item as JSON; the secret only with --reveal.")
        ])

    private let name: String?
    private let length: Int
    private let symbols: Bool
    private let alphabet: String?
    private let reveal: Bool
    private let json: Bool
    private let storing: StoringOptions
    private let options: ItemOptions
    private let person: PersonPrompt
    private let passcode: PasscodeSource

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        name = try arguments.operand()
        length = try arguments.number("--length", 1...1024) ?? 24
        symbols = arguments.contains("--symbols")
        alphabet = try arguments.text("--alphabet")
        reveal = arguments.contains("--reveal")
        json = arguments.contains("--json")
        storing = try StoringOptions(arguments)
        options = try ItemOptions(arguments)
        person = try PersonPrompt(arguments)
        passcode = try PasscodeSource(daily: arguments)
        if symbols, alphabet != nil { throw .usage("--symbols and --alphabet exclude each other") }
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        passcode.unlockOnDemand(in: session)
        let generator = try generator()
        let target = try options.target(named: name)
        let prepared = try storing.prepare(target, in: PasswordItems(session, person))
        let secret = generator.generate(length: length)
        let stored = try prepared.store(secret)
        let bits = Int(generator.entropy(length: length))
        if json {
            let report = GeneratedItem(action: stored.action, item: stored.item, length: length, entropyBits: bits)
            guard reveal else { return try session.write(JSONText.of(report)) }
            return try SecretDisplay.write(report, with: secret, in: session)
        }
        let characters = length == 1 ? "1 character" : "\(length) characters"
        session.io.say(
            """
            latchkey: \(stored.action.rawValue) \(stored.item.name) in \(stored.item.accessGroup): \
            \(SecretDisplay.mask) (\(characters), \(bits) bits of entropy)

            """)
        if bits < Self.safeBits, !session.isQuiet {
            session.io.say(
                "hint: fewer than \(Self.safeBits) bits can be guessed by trying; --length makes it longer\n")
        }
        if reveal { try SecretDisplay.write(secret, in: session) }
    }

    private func generator() throws(CommandFailure) -> PasswordGenerator {
        guard let alphabet else { return symbols ? .withSymbols : .plain }
        return try PasswordGenerator(alphabet: alphabet)
    }

    private static let safeBits = 64
}

/// The report of `latchkey generate`, in the shape of its JSON.
private struct GeneratedItem: Encodable {
    let action: StoredItem.Action
    let item: ItemReport
    let length: Int
    /// The entropy in whole bits, rounded down.
    let entropyBits: Int
}

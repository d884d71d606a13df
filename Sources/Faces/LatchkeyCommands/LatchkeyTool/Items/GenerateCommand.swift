// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LinuxSystem

/// `latchkey generate`.
struct GenerateCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.generate.rawValue, abstract: LatchkeySubcommand.generate.abstract,
        discussion: """
            Every character is chosen independently and with the same probability. The default is 24 letters and \
            digits: 142 bits. The secret is printed only with --reveal, also to a pipe, so that it is not left in the \
            log of a script. An existing item is replaced after a question, or with --update.

            EXAMPLES:
              latchkey generate example.com/alice
              latchkey generate --symbols --length 32 db/admin && latchkey copy db/admin
              latchkey generate --alphabet 0123456789 --length 6 --reveal card/pin
              latchkey generate --update --json example.com/alice
            """)

    @Argument(help: ArgumentHelp("The item; write a slash in the account as %2F.", valueName: "service/account"))
    var name: String?

    @Option(name: .shortAndLong, help: "The number of characters, 1 to 1024.")
    var length = 24

    @Flag(help: "Letters, digits and punctuation, without quotes and the backslash.")
    var symbols = false

    @Option(help: ArgumentHelp("Only these characters, 2 to 256 different ones.", valueName: "characters"))
    var alphabet: String?

    @Flag(help: "Print the secret, and include it in JSON.")
    var reveal = false

    @OptionGroup var storing: StoringOptions
    @OptionGroup var options: ItemOptions
    @OptionGroup var prompting: PromptOptions
    @OptionGroup var passcode: PasscodeOptions

    @Flag(help: "Print the stored item as JSON; the secret only with --reveal.")
    var json = false

    func validate() throws {
        guard (1...1024).contains(length) else { throw ValidationError("--length must be 1 to 1024") }
        if symbols, alphabet != nil { throw ValidationError("--symbols and --alphabet exclude each other") }
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        passcode.source.unlockOnDemand(in: session)
        let generator = try generator()
        let target = try options.target(named: name)
        let prepared = try storing.prepare(target, in: PasswordItems(session, prompting.person))
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

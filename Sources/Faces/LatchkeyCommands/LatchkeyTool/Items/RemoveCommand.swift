// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// `latchkey rm`.
struct RemoveCommand: DailyCommand {
    static let definition = CommandDefinition.daily(
        .rm,
        notes: """
            Asks before it deletes; without a terminal it requires --force. Several matching items are refused unless \
            --all is given, also if they are in different access groups.
            """,
        examples: [
            "latchkey rm example.com/alice",
            "latchkey rm --dry-run --all example.com",
            "latchkey rm --force --all example.com",
        ],
        operand: "service/account", operandHelp: "The item, as 'latchkey list' shows it.",
        options: [
            CommandOption("--all", help: "Delete every matching item, in every access group."),
            CommandOption("--force", or: "-f", help: "Delete without a question."),
            CommandOption("--dry-run", or: "-n", help: "Only show the items that would be deleted."),
            CommandOption("--label", .required("label"), help: "Only items with this label."),
        ] + ItemOptions.options + PromptOptions.options + PasscodeOptions.options)

    private let name: String?
    private let all: Bool
    private let force: Bool
    private let dryRun: Bool
    private let label: String?
    private let options: ItemOptions
    private let person: PersonPrompt
    private let passcode: PasscodeSource

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        name = try arguments.operand()
        all = arguments.contains("--all")
        force = arguments.contains("--force")
        dryRun = arguments.contains("--dry-run")
        label = try arguments.text("--label")
        options = try ItemOptions(arguments)
        person = try PersonPrompt(arguments)
        passcode = try PasscodeSource(daily: arguments)
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        passcode.unlockOnDemand(in: session)
        let items = try PasswordItems(session, person)
        let found = try items.all(options.selection(named: name, label: label), takesSeveral: all)
        if dryRun {
            for record in found { try session.write("would delete \(Self.text(of: record))\n") }
            return
        }
        if !force { try confirm(found, in: session) }
        for record in found {
            let isDeleted = try items.delete(record)
            session.io.say("latchkey: \(isDeleted ? "deleted" : "already deleted:") \(Self.text(of: record))\n")
        }
    }

    /// - Throws: errSecUserCanceled for any answer but yes, errSecParam if there is no
    ///   terminal.
    private func confirm(_ found: [ItemRecord], in session: CommandSession) throws(CommandFailure) {
        let what = found.count == 1 ? found.map(Self.text).joined() : "\(found.count) items"
        guard session.io.isInputInteractive else {
            throw .parameter(
                "\(what) would be deleted, but no terminal is available for confirmation",
                hint: "--force deletes without a question; --dry-run shows the deletions")
        }
        if found.count > 1 { for record in found { session.io.say("\(Self.text(of: record))\n") } }
        try session.confirm("\(what) will be deleted. Continue?")
    }

    private static func text(of record: ItemRecord) -> String {
        "\(record.passwordName.text) in \(record.accessGroup.name)"
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// `latchkey get`.
struct GetCommand: DailyCommand {
    static let definition = CommandDefinition.daily(
        .get,
        notes: """
            The secret is written byte for byte, without a line end. On a terminal it is masked unless --reveal is \
            given. SERVICE alone is sufficient if it has only one account; an item without a service or server has \
            its label in this place. Several matching items are refused by name.
            """,
        examples: [
            "latchkey get example.com/alice | psql",
            "latchkey get --reveal example.com/alice",
            "latchkey get --attribute modified example.com/alice",
            "latchkey get --json --reveal example.com/alice | jq -r .secret",
        ],
        operand: "service/account", operandHelp: "The item, as 'latchkey list' shows it.",
        options: [
            CommandOption("--reveal", help: "Show the secret on a terminal, and include it in JSON."),
            CommandOption("--json", help: "Print the item as JSON; the secret only with --reveal."),
            CommandOption(
                "--attribute", value: .required("name"), completion: .words(ItemField.allCases.map(\.rawValue)),
                help: "Print this attribute instead of the secret."),
            CommandOption("--label", .required("label"), help: "Only an item with this label."),
        ] + ItemOptions.options + PromptOptions.options + PasscodeOptions.options)

    private let name: String?
    private let reveal: Bool
    private let json: Bool
    private let attribute: ItemField?
    private let label: String?
    private let options: ItemOptions
    private let person: PersonPrompt
    private let passcode: PasscodeSource

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        name = try arguments.operand()
        reveal = arguments.contains("--reveal")
        json = arguments.contains("--json")
        attribute = try arguments.choice("--attribute")
        label = try arguments.text("--label")
        options = try ItemOptions(arguments)
        person = try PersonPrompt(arguments)
        passcode = try PasscodeSource(daily: arguments)
        if attribute != nil, json || reveal { throw .usage("--attribute excludes --json and --reveal") }
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        passcode.unlockOnDemand(in: session)
        let items = try PasswordItems(session, person)
        let record = try items.one(options.selection(named: name, label: label))
        if let attribute { return try session.write(attribute.line(of: ItemReport(record))) }
        if json {
            let report = ItemReport(record)
            guard reveal else { return try session.write(JSONText.of(report)) }
            return try SecretDisplay.write(report, with: items.secret(of: record), in: session)
        }
        guard reveal || !session.io.isOutputInteractive else { return try writeMask(of: record, in: session) }
        try SecretDisplay.write(items.secret(of: record), in: session)
    }

    /// The secret is not even read.
    private func writeMask(of record: ItemRecord, in session: CommandSession) throws(CommandFailure) {
        try session.write("\(SecretDisplay.mask)\n")
        if session.isQuiet { return }
        session.io.say(
            "hint: --reveal shows the secret; to copy it: latchkey copy \(record.passwordName.text.shellQuoted)\n")
    }
}

/// An attribute that `latchkey get --attribute` prints.
enum ItemField: String, CaseIterable, Sendable {
    case name, service, server, account, label, comment, path, port, created, modified, protection
    case itemClass = "class"
    case networkProtocol = "protocol"
    case accessGroup = "access-group"

    /// Returns the value on one line.
    ///
    /// - Throws: errSecNoSuchAttr if the item does not have the attribute.
    func line(of item: ItemReport) throws(CommandFailure) -> TerminalText {
        guard let value = value(of: item) else {
            throw .status(
                KeychainError(
                    .noSuchAttribute, "the item '\(item.name)' has no \(rawValue)",
                    hint: "latchkey get --json shows the attributes that it has"))
        }
        return TerminalText(value, maxLength: nil) + "\n"
    }

    private func value(of item: ItemReport) -> String? {
        switch self {
        case .name: item.name
        case .service: item.service
        case .server: item.server
        case .account: item.account
        case .label: item.label
        case .comment: item.comment
        case .path: item.path
        case .port: item.port.map { "\($0)" }
        case .created: item.created
        case .modified: item.modified
        case .protection: item.protectionName
        case .itemClass: item.passwordClass
        case .networkProtocol: item.networkProtocol
        case .accessGroup: item.accessGroup
        }
    }
}

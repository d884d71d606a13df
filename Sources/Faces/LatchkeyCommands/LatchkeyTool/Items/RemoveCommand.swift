// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LinuxSystem

/// `latchkey rm`.
struct RemoveCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.rm.rawValue, abstract: LatchkeySubcommand.rm.abstract,
        discussion: """
            Asks before it deletes; without a terminal it requires --force. Several matching items are refused unless \
            --all is given, also if they are in different access groups.

            EXAMPLES:
              latchkey rm example.com/alice
              latchkey rm --dry-run --all example.com
              latchkey rm --force --all example.com
            """)

    @Argument(help: ArgumentHelp("The item, as 'latchkey list' shows it.", valueName: "service/account"))
    var name: String?

    @Flag(help: "Delete every matching item, in every access group.")
    var all = false

    @Flag(name: .shortAndLong, help: "Delete without a question.")
    var force = false

    @Flag(name: [.customShort("n"), .long], help: "Only show what would be deleted.")
    var dryRun = false

    @Option(help: "Only items with this label.")
    var label: String?

    @OptionGroup var options: ItemOptions
    @OptionGroup var prompting: PromptOptions
    @OptionGroup var passcode: PasscodeOptions

    func run(in session: CommandSession) throws(CommandFailure) {
        passcode.source.unlockOnDemand(in: session)
        let items = try PasswordItems(session, prompting.person)
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
                hint: "--force deletes without a question; --dry-run shows what would be deleted")
        }
        if found.count > 1 { for record in found { session.io.say("\(Self.text(of: record))\n") } }
        try session.confirm("\(what) will be deleted. Continue?")
    }

    private static func text(of record: ItemRecord) -> String {
        "\(record.passwordName.text) in \(record.accessGroup.name)"
    }
}

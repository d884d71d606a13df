// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// `security dump-keychain`.
enum DumpKeychain: SecurityCommand {
    static let definition = CommandDefinition(
        name: "dump-keychain",
        summary: "Show every item of the keychain.",
        options: [
            CommandOption("-a", help: "also show access and partition lists (kept without effect)"),
            CommandOption("-d", help: "also show the passwords and other data"),
            CommandOption("-i", help: "accepted; access lists are not edited"),
            CommandOption("-r", help: "accepted; the sealed form of data is not shown"),
            .accessGroup,
        ] + CommandOption.passcode,
        operands: "[keychain...]",
        notes: [
            "Damaged items are skipped; 'latchkey doctor' shows the damage.",
            "Items with an access control that needs the person are not shown: the command never asks.",
        ],
        examples: ["dump-keychain", "dump-keychain -d"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        let withData = arguments.contains("-d")
        var damaged = 0
        var search = UnlockedSearch()
        try KeychainOperand.searched(arguments.operands, in: session).forEach(in: session) {
            (keychain) throws(CommandFailure) in
            let path = try keychain.path()
            for itemClass in ItemClass.stored {
                let query = ItemQuery(itemClass, accessGroup: arguments.accessGroup, synchronizable: .any, limit: .all)
                let returning: ReturnTypes = withData ? [.attributes, .data] : .attributes
                try search.forEachPart(of: query, returning, in: keychain.session) { (part) throws(CommandFailure) in
                    damaged += part.damaged
                    for record in part.records { try write(record, of: path, arguments, in: session) }
                }
            }
        }
        if damaged > 0 {
            session.warn(
                "\(damaged) damaged \(damaged == 1 ? "item was" : "items were") skipped",
                hint: "latchkey doctor shows the damage")
        }
        for note in search.notes { session.warn(note.text, hint: note.hint) }
    }

    private static func write(
        _ record: ItemRecord, of path: String, _ arguments: ParsedArguments, in session: CommandSession
    ) throws(CommandFailure) {
        let withData = arguments.contains("-d")
        var text = ItemBlock(record: record, keychain: path).text
        if arguments.contains("-a") { text += accessText(record) }
        if withData { text += "data:\n" }
        try session.write(text)
        if withData { try session.writeSecret(BufferFormat.secretLine("", record.secrets?.data), to: .output) }
    }

    private static func accessText(_ record: ItemRecord) -> TerminalText {
        do throws(KeychainError) {
            return AccessListText(list: try record.accessList()).text
        } catch {
            return "access: \(error.problem)\n"
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey list`.
struct ListCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.list.rawValue, abstract: LatchkeySubcommand.list.abstract,
        discussion: """
            Shows generic and internet passwords, sorted by name: a table on a terminal, lines with tabs otherwise. \
            In the pattern SERVICE or SERVICE/ACCOUNT, * stands for any text and ? for one character. Items whose \
            access control needs you are not shown: the list never asks.

            EXAMPLES:
              latchkey list
              latchkey list 'example.*/a*'
              latchkey list --class internet --json | jq -r '.[].name'
              latchkey list --limit 20 --offset 40
            """)

    @Argument(help: ArgumentHelp("Only items with such a name.", valueName: "pattern"))
    var pattern: String?

    @Flag(help: "Print JSON.")
    var json = false

    @Option(help: "Only items with this label.")
    var label: String?

    @Option(help: ArgumentHelp("At most this many items, 1 or more.", valueName: "number"))
    var limit: Int?

    @Option(help: ArgumentHelp("Leave out this many items first.", valueName: "number"))
    var offset = 0

    @OptionGroup var options: ItemOptions
    @OptionGroup var passcode: PasscodeOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more") }
        guard offset >= 0 else { throw ValidationError("--offset must be 0 or more") }
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        passcode.source.unlockOnDemand(in: session)
        let found = try reports(in: session)
        let page = found.dropFirst(offset).prefix(limit ?? found.count)
        if json {
            try session.write(JSONText.of(Array(page)))
        } else {
            try session.write(ItemTable.text(of: page, isAligned: session.io.isOutputInteractive))
        }
        let left = found.count - min(offset, found.count) - page.count
        if left > 0 {
            session.io.say(
                "latchkey: \(left) more of \(found.count) items; --offset \(offset + page.count) shows the next\n")
        }
    }

    private func reports(in session: CommandSession) throws(CommandFailure) -> [ItemReport] {
        let items = try PasswordItems(session)
        let pattern = try pattern.map { text throws(CommandFailure) in try ItemPattern(parsing: text) }
        let selected = try options.attributes(named: nil, label)
        var (records, search, damaged) = ([ItemRecord](), UnlockedSearch(), 0)
        for itemClass in options.classes {
            let named = pattern?.attributes(of: itemClass) ?? [:]
            if let part = named.keys.first(where: { selected[$0] != nil }) {
                throw .usage(
                    "the \(part == .account ? "account" : "service") is given twice: in the pattern and as an option")
            }
            let query = ItemQuery(
                itemClass, attributes: selected.merging(named) { $1 }, accessGroup: options.accessGroup,
                synchronizable: .any, limit: .all)
            let matches = try items.unlocked(query, with: &search)
            // The records of collections are none of the user's passwords.
            records += matches.records.filter { record in
                guard options.accessGroup != nil || record.accessGroup != .collections else { return false }
                return pattern?.matches(record.passwordName) ?? true
            }
            damaged += matches.damaged
        }
        if damaged > 0 {
            warn(
                "\(damaged) damaged \(damaged == 1 ? "item was" : "items were") skipped", "latchkey doctor shows which",
                in: session)
        }
        for note in search.notes { warn(note.text, note.hint, in: session) }
        return records.map(ItemReport.init).sorted { $0.sortKey.lexicographicallyPrecedes($1.sortKey) }
    }

    private func warn(_ text: TerminalText, _ hint: TerminalText, in session: CommandSession) {
        if session.isQuiet { return }
        session.io.say("latchkey: \(text)\nhint: \(hint)\n")
    }
}

extension ItemReport {
    /// Sorts by name, then by access group and class.
    fileprivate var sortKey: [String] { [name, accessGroup, passwordClass, networkProtocol ?? "", path ?? ""] }
}

/// The items of `latchkey list` as text.
private enum ItemTable {
    static func text(of items: some Collection<ItemReport>, isAligned: Bool) -> TerminalText {
        let rows = items.map { item in
            [item.name, item.accessGroup, item.passwordClass, item.protection, item.modified].map {
                TerminalText($0, maxLength: nil)
            }
        }
        guard isAligned, !rows.isEmpty else {
            return rows.map { $0.joined(separator: "\t") + "\n" }.joined()
        }
        let table = [["NAME", "ACCESS GROUP", "CLASS", "PROTECTION", "MODIFIED"]] + rows
        let widths = table.reduce([Int](repeating: 0, count: 5)) { widths, row in
            zip(widths, row).map { max($0, $1.string.count) }
        }
        return table.map { row -> TerminalText in
            let cells = zip(row, widths).map { $0 + TerminalText.spaces($1 - $0.string.count + 2) }
            return cells.dropLast().joined() + (row.last ?? "") + "\n"
        }.joined()
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey list`.
struct ListCommand: DailyCommand {
    static let definition = CommandDefinition.daily(
        .list,
        notes: """
            Shows generic and internet passwords, sorted by name: a table on a terminal, lines with tabs otherwise. An \
            item without a service or server has its label in this place; the last column has other labels. In the \
            pattern SERVICE or SERVICE/ACCOUNT, and in --label, * stands for any text and ? for one character. Items \
            with an access control that needs you are not shown: the list never asks.
            """,
        examples: [
            "latchkey list",
            "latchkey list 'example.*/a*'",
            "latchkey list --label '*Safe Storage'",
            "latchkey list --class internet --json | jq -r '.[].name'",
            "latchkey list --limit 20 --offset 40",
        ],
        operand: "pattern", operandHelp: "Only items with such a name.",
        options: [
            CommandOption("--json", help: "Print JSON."),
            CommandOption("--label", .required("pattern"), help: "Only items with such a label."),
            CommandOption("--limit", .required("number"), help: "At most this many items, 1 or more."),
            CommandOption("--offset", .required("number"), help: "Leave out this many items first. (default: 0)"),
        ] + ItemOptions.options + PasscodeOptions.options)

    private let pattern: String?
    private let json: Bool
    private let label: String?
    private let limit: Int?
    private let offset: Int
    private let options: ItemOptions
    private let passcode: PasscodeSource

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        pattern = try arguments.operand()
        json = arguments.contains("--json")
        label = try arguments.text("--label")
        limit = try arguments.number("--limit", 1...Int.max)
        offset = try arguments.number("--offset", 0...Int.max) ?? 0
        options = try ItemOptions(arguments)
        passcode = try PasscodeSource(daily: arguments)
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        passcode.unlockOnDemand(in: session)
        if json {
            try write(in: session, ItemReport.init) { (items) throws(CommandFailure) in
                try session.write(JSONText.of(items.map(\.value)))
            }
        } else {
            try write(in: session, ItemTable.Row.init) { (items) throws(CommandFailure) in
                try ItemTable.write(items, in: session)
            }
        }
    }

    /// Writes the page of the list with `body`, and says how many items follow.
    ///
    /// - Parameter make: makes the value to write for an item; it is called only for items that may be on the page.
    private func write<Item>(
        in session: CommandSession, _ make: (ItemRecord) -> Item,
        _ body: ([(key: ItemSortKey, value: Item)]) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        var page = SortedPage<ItemSortKey, Item>(offset: offset, limit: limit)
        try forEachItem(in: session, into: &page) { record, page in page.add(ItemSortKey(record), make(record)) }
        let items = page.values()
        try body(items)
        let left = page.count - min(offset, page.count) - items.count
        if left > 0 {
            session.io.say(
                "latchkey: \(left) more of \(page.count) items; --offset \(offset + items.count) shows the next\n")
        }
    }

    /// Passes every item of the list to `body`, in any order.
    private func forEachItem<State>(
        in session: CommandSession, into state: inout State, _ body: (ItemRecord, inout State) -> Void
    ) throws(CommandFailure) {
        let items = try PasswordItems(session)
        let pattern = try pattern.map { text throws(CommandFailure) in try ItemPattern(parsing: text) }
        let label = label.map { TextPattern($0) }
        var selected = try options.attributes(nil)
        selected[.label] = label?.value
        var search = UnlockedSearch()
        var found = (state: state, damaged: 0)
        for itemClass in options.classes {
            for named in pattern?.attributes(of: itemClass) ?? [[:]] {
                if let part = named.keys.first(where: { $0 != .label && selected[$0] != nil }) {
                    throw .usage(
                        "the \(part == .account ? "account" : "service") is given twice: in the pattern and as an option"
                    )
                }
                let query = ItemQuery(
                    itemClass, attributes: selected.merging(named) { $1 }, accessGroup: options.accessGroup,
                    synchronizable: .any, limit: .all)
                try items.forEachUnlocked(query, with: &search, into: &found) { part, found in
                    found.damaged += part.damaged
                    for record in part.records {
                        // The records of collections and policies are none of the user's passwords.
                        guard options.accessGroup != nil || ![.collections, .policies].contains(record.accessGroup),
                            pattern?.matches(record.passwordName) ?? true, label?.matches(record.labelBytes) ?? true
                        else { continue }
                        body(record, &found.state)
                    }
                }
            }
        }
        state = found.state
        if found.damaged > 0 {
            warn(
                "\(found.damaged) damaged \(found.damaged == 1 ? "item was" : "items were") skipped",
                "latchkey doctor shows the damage", in: session)
        }
        for note in search.notes { warn(note.text, note.hint, in: session) }
    }

    private func warn(_ text: TerminalText, _ hint: TerminalText, in session: CommandSession) {
        if session.isQuiet { return }
        session.io.say("latchkey: \(text)\nhint: \(hint)\n")
    }
}

/// The items of `latchkey list` as text.
private enum ItemTable {
    /// The values of an item that its key does not have.
    struct Row {
        let protection: ProtectionClass
        /// In seconds since 2001.
        let modified: Double
        /// The label, where the name does not have it.
        let label: String

        init(_ record: ItemRecord) {
            (protection, modified) = (record.protection, record.modified)
            label = String(decoding: record.furtherLabel ?? [], as: UTF8.self)
        }
    }

    /// Writes a line for each item, in parts: the cells of all lines take more memory than the items.
    static func write(
        _ items: [(key: ItemSortKey, value: Row)], in session: CommandSession
    ) throws(CommandFailure) {
        let widths = session.io.isOutputInteractive && !items.isEmpty ? widths(of: items) : nil
        if let widths { try session.write(line(header, widths)) }
        var rest = items[...]
        while !rest.isEmpty {
            try session.write(rest.prefix(partLength).map { line(cells(of: $0), widths) }.joined())
            rest = rest.dropFirst(partLength)
        }
    }

    private static let header: [TerminalText] = ["NAME", "ACCESS GROUP", "CLASS", "PROTECTION", "MODIFIED", "LABEL"]
    /// The number of lines in a part.
    private static let partLength = 1000

    private static func cells(of item: (key: ItemSortKey, value: Row)) -> [TerminalText] {
        [
            item.key.name, item.key.accessGroup, item.key.passwordClass, item.value.protection.name,
            ItemReport.time(item.value.modified), item.value.label,
        ].map { TerminalText($0, maxLength: nil) }
    }

    /// The columns of the longest cells; a cell that is longer than ``maxWidth`` moves its own line only.
    private static func widths(of items: [(key: ItemSortKey, value: Row)]) -> [Int] {
        let widths = items.reduce(header.map(\.string.count)) { widths, item in
            zip(widths, cells(of: item)).map { max($0, min($1.string.count, maxWidth)) }
        }
        return items.contains { !$0.value.label.isEmpty } ? widths : widths.dropLast()
    }

    private static let maxWidth = 60

    /// - Parameter widths: those of aligned cells; nil for cells with tabs between them.
    private static func line(_ cells: [TerminalText], _ widths: [Int]?) -> TerminalText {
        guard let widths else { return cells.joined(separator: "\t") + "\n" }
        var text = TerminalText()
        // The spaces before the next cell, so that no line ends with spaces.
        var gap = 0
        for (cell, width) in zip(cells, widths) {
            if !cell.string.isEmpty {
                text += TerminalText.spaces(gap) + cell
                gap = 0
            }
            gap += max(width - cell.string.count, 0) + 2
        }
        return text + "\n"
    }
}

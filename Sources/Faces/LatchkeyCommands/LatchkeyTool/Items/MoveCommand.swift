// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// `latchkey mv`.
struct MoveCommand: DailyCommand {
    static let definition = CommandDefinition.daily(
        .mv,
        notes: """
            A program that declares no identity has the access group program.NAME, with the file name of its \
            executable. --added-by moves what an executable has added to latchkey.shared, of every class, to this \
            group, or to that of --to. An item is not moved if the group has one with the same name. Programs that do \
            not have the new group do not find the items any more.
            """,
        examples: [
            "latchkey mv --dry-run --added-by /usr/bin/notes",
            "latchkey mv --added-by /usr/bin/notes",
            "latchkey mv example.com/alice --to program.notes",
        ],
        operand: "service/account", operandHelp: "The item, as 'latchkey list' shows it.",
        options: [
            CommandOption("--to", .required("group"), help: "The new access group."),
            CommandOption(
                "--added-by", value: .required("executable"), completion: .files,
                help: "Move every item of latchkey.shared, or of --access-group, that this executable has added."),
            CommandOption("--all", help: "Move every item with the name, in every access group."),
            CommandOption("--dry-run", or: "-n", help: "Only show the items that would be moved."),
            CommandOption("--label", .required("label"), help: "Only items with this label."),
        ] + ItemOptions.options + PromptOptions.options + PasscodeOptions.options)

    private enum Source {
        case named(ItemSelection, takesSeveral: Bool)
        case added(by: String, to: String)
    }

    private let source: Source
    private let target: String
    private let dryRun: Bool
    private let person: PersonPrompt
    private let passcode: PasscodeSource

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        let options = try ItemOptions(arguments)
        let (name, label) = (try arguments.operand(), try arguments.text("--label"))
        let given = try arguments.text("--to")
        if let executable = try arguments.text("--added-by") {
            guard name == nil, label == nil else { throw .usage("--added-by takes every item: name none") }
            guard let target = given ?? AccessGroup.program(executable)?.name else {
                throw .usage("the file name of '\(executable)' cannot be that of an access group: give --to")
            }
            source = .added(by: executable, to: options.accessGroup ?? AccessGroup.shared.name)
            self.target = target
        } else {
            guard let given else { throw .usage("--to names the new access group") }
            source = .named(
                try options.selection(named: name, label: label), takesSeveral: arguments.contains("--all"))
            target = given
        }
        guard !target.isEmpty else { throw .usage("--to names the new access group") }
        dryRun = arguments.contains("--dry-run")
        person = try PersonPrompt(arguments)
        passcode = try PasscodeSource(daily: arguments)
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        passcode.unlockOnDemand(in: session)
        let items = try PasswordItems(session, person)
        let found =
            switch source {
            case .named(let selection, let takesSeveral): try items.all(selection, takesSeveral: takesSeveral)
            case .added(let executable, let group): try items.all(addedBy: executable, to: group)
            }
        var left = 0
        for record in found where record.accessGroup.name != target {
            let text = "\(Self.name(of: record)) from \(record.accessGroup.name) to \(target)"
            if dryRun {
                try session.write("would move \(text)\n")
                continue
            }
            do throws(CommandFailure) {
                let isMoved = try items.move(record, to: target)
                session.io.say("latchkey: \(isMoved ? "moved" : "deleted meanwhile:") \(text)\n")
            } catch .status(let error, _) where error.status == .duplicateItem {
                left += 1
                session.io.say("latchkey: not moved, \(target) has an item with this name: \(Self.name(of: record))\n")
            }
        }
        guard left == 0 else {
            throw .status(
                KeychainError(
                    .duplicateItem, "\(left) of \(found.count) items were not moved",
                    hint: "latchkey rm --access-group GROUP deletes the one that is not needed"))
        }
    }

    private static func name(of record: ItemRecord) -> String {
        switch record.itemClass {
        case .genericPassword, .internetPassword: record.passwordName.text
        default: "\(record.itemClass) '\(record[.label]?.text ?? "")'"
        }
    }
}

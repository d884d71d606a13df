// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// The options of the commands that store a secret, and the storing itself.
struct StoringOptions: Sendable {
    static let options = [
        CommandOption(
            "--label", .required("label"),
            help: "The display name of the item; the default of a new item is its service."),
        CommandOption(
            "--comment", .required("comment"),
            help: "A comment; it is encrypted like every attribute, but is not secret."),
        CommandOption(
            "--protection", .required("class"), help: "The protection class: \(ProtectionClass.listedNames)."),
        CommandOption(
            "--access-control", .required("flags"),
            help:
                "The requirements of a use of the item: \(AccessControlFlags.listedNames); joined by ,and, or ,or,."),
        CommandOption(
            "--update", or: "--force", "-f", help: "Replace the secret of an existing item without a question."),
    ]

    private let label: String?
    private let comment: String?
    private let protection: String?
    private let accessControl: String?
    private let update: Bool

    /// - Throws: a usage failure.
    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        label = try arguments.text("--label")
        comment = try arguments.text("--comment")
        protection = try arguments.text("--protection")
        accessControl = try arguments.text("--access-control")
        update = arguments.contains("--update")
    }

    /// Checks the options, before the secret is read.
    func prepare(_ target: ItemTarget, in items: PasswordItems) throws(CommandFailure) -> PreparedStoring {
        try target.requireKey()
        let addition = PasswordAddition(
            itemClass: target.itemClass, attributes: try attributes(target), accessGroup: target.accessGroup,
            protection: try ProtectionClass.named(protection),
            accessControlFlags: try AccessControlFlags.named(accessControl))
        addition.protection?.warnIfAlwaysOpen(in: items.session)
        return PreparedStoring(target: target, addition: addition, replaces: update, items: items)
    }

    private func attributes(_ target: ItemTarget) throws(CommandFailure) -> [ItemAttribute: AttributeValue] {
        var attributes = target.completed
        attributes[.label] = label.map(AttributeValue.string)
        attributes[.comment] = comment.map(AttributeValue.string)
        return attributes
    }
}

/// An item that is ready to be stored.
struct PreparedStoring {
    fileprivate let target: ItemTarget
    fileprivate let addition: PasswordAddition
    fileprivate let replaces: Bool
    fileprivate let items: PasswordItems

    /// Stores the item with this secret. On a terminal, asks before an existing item is replaced.
    ///
    /// - Throws: errSecDuplicateItem if the item exists and no terminal is available for the
    ///   question; errSecUserCanceled if the user refuses.
    func store(_ secret: SharedSecret) throws(CommandFailure) -> StoredItem {
        let stored: StoredRecord
        do throws(CommandFailure) {
            stored = try items.store(secret, as: addition, replaces: replaces)
        } catch {
            guard case .status(let problem, _) = error, problem.status == .duplicateItem, !replaces else { throw error }
            guard items.session.io.isInputInteractive else { throw duplicate }
            try items.session.confirm("'\(target.text)' already exists in \(target.group). Replace its secret?")
            stored = try items.store(secret, as: addition, replaces: true)
        }
        return StoredItem(action: stored.isReplacement ? .updated : .added, item: ItemReport(stored.record))
    }

    private var duplicate: CommandFailure {
        .status(
            KeychainError(
                .duplicateItem, "the item '\(target.text)' already exists in \(target.group)",
                hint: "--update replaces its secret"))
    }
}

/// The report of `latchkey set`, in the shape of its JSON.
struct StoredItem: Encodable {
    let action: Action
    let item: ItemReport

    enum Action: String, Encodable { case added, updated }
}

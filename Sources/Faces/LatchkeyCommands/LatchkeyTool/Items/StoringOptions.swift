// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// The options of the commands that store a secret, and the storing itself.
struct StoringOptions: ParsableArguments {
    @Option(help: "The display name of the item; the default of a new item is its service.")
    var label: String?

    @Option(help: "A comment; it is encrypted like every attribute, but is not secret.")
    var comment: String?

    @Option(help: ArgumentHelp("The protection class: \(ProtectionClass.listedNames).", valueName: "class"))
    var protection: String?

    @Option(
        help: ArgumentHelp(
            "What each use of the item requires: \(AccessControlFlags.listedNames); joined by ,and, or ,or,.",
            valueName: "flags"))
    var accessControl: String?

    @Flag(
        name: [.long, .customLong("force"), .customShort("f")],
        help: "Replace the secret of an existing item without a question.")
    var update = false

    /// Checks whether the item may be stored, before its secret is read. On a terminal, asks before
    /// an existing item is replaced.
    ///
    /// - Throws: errSecDuplicateItem if the item exists and no terminal is available for the
    ///   question; errSecUserCanceled if the user refuses.
    func prepare(_ target: ItemTarget, in items: PasswordItems) throws(CommandFailure) -> PreparedStoring {
        try target.requireKey()
        let addition = PasswordAddition(
            itemClass: target.itemClass, attributes: try attributes(target), accessGroup: target.accessGroup,
            protection: try ProtectionClass.named(protection),
            accessControlFlags: try AccessControlFlags.named(accessControl))
        addition.protection?.warnIfAlwaysOpen(in: items.session)
        let existing = try items.existing(target)
        if existing != nil, !update {
            guard items.session.io.isInputInteractive else { throw Self.duplicate(target) }
            try items.session.confirm("'\(target.text)' already exists in \(target.group). Replace its secret?")
        }
        return PreparedStoring(
            target: target, addition: addition, existing: existing, replaces: existing != nil || update, items: items)
    }

    private func attributes(_ target: ItemTarget) throws(CommandFailure) -> [ItemAttribute: AttributeValue] {
        var attributes = target.completed
        attributes[.label] = label.map(AttributeValue.string)
        attributes[.comment] = comment.map(AttributeValue.string)
        return attributes
    }

    static func duplicate(_ target: ItemTarget) -> CommandFailure {
        .status(
            KeychainError(
                .duplicateItem, "the item '\(target.text)' already exists in \(target.group)",
                hint: "--update replaces its secret"))
    }
}

/// An item that is ready to be stored.
struct PreparedStoring {
    let target: ItemTarget
    fileprivate let addition: PasswordAddition
    /// The item as it was before; nil for a new item.
    fileprivate let existing: ItemRecord?
    fileprivate let replaces: Bool
    fileprivate let items: PasswordItems

    fileprivate init(
        target: ItemTarget, addition: PasswordAddition, existing: ItemRecord?, replaces: Bool, items: PasswordItems
    ) {
        self.target = target
        self.addition = addition
        self.existing = existing
        self.replaces = replaces
        self.items = items
    }

    /// Stores the item with this secret.
    ///
    /// - Returns: the stored item without its secret.
    func store(_ secret: SharedSecret) throws(CommandFailure) -> StoredItem {
        let added: ItemRecord?
        do throws(CommandFailure) {
            added = try items.store(secret, as: addition, replaces: replaces)
        } catch {
            // Another process has added the item meanwhile.
            guard case .status(let problem, _) = error, problem.status == .duplicateItem else { throw error }
            throw StoringOptions.duplicate(target)
        }
        guard let record = try items.stored(target, otherwise: added ?? existing) else {
            throw .status(KeychainError(.itemNotFound, "'\(target.text)' was stored, and deleted meanwhile"))
        }
        return StoredItem(action: existing != nil ? .updated : .added, item: ItemReport(record))
    }
}

/// The report of `latchkey set`, in the shape of its JSON.
struct StoredItem: Encodable {
    let action: Action
    let item: ItemReport

    enum Action: String, Encodable { case added, updated }
}

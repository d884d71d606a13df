// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService

/// Implements the partition-list commands: they set the partitions of every matching item.
enum PartitionList {
    static let options = [
        CommandOption("-S", .required("list"), isRequired: true, help: "the partitions, separated by commas"),
        CommandOption("-k", .required("password"), help: "the keychain's password; accepted and ignored"),
    ]

    static let notes = [
        """
        On macOS, a partition list names the signed programs that may use an item. Programs are not signed here: the \
        list is a record of what was asked, which 'security dump-keychain -a' shows, and it neither allows nor denies \
        anything. Access groups separate programs. The command fails if there is no such item.
        """
    ]

    static func run(_ itemClass: ItemClass, _ arguments: ParsedArguments, in session: CommandSession)
        throws(CommandFailure)
    {
        var query = try PasswordSearch.query(itemClass, arguments)
        query.limit = .all
        let person = PersonPrompt()
        let found = try KeychainOperand.searched(arguments.operands, in: session).all(in: session) {
            (keychain) throws(CommandFailure) in
            try PasswordSearch.matchesOfFirstGroup(query, returning: .attributes, in: keychain, for: person).records
        }
        guard !found.isEmpty else { throw .status(.itemNotFound, of: PasswordSearch.function) }
        for (record, keychain) in found { try set(partitions(arguments), of: record, in: keychain, for: person) }
    }

    /// Returns the partitions that `-S` names, in order; none for an empty word.
    static func partitions(_ arguments: ParsedArguments) -> [String] {
        (arguments["-S"]?.text ?? "").split(separator: ",").map(String.init)
    }

    /// Sets the partitions of an item. Its access list keeps its name and its programs.
    static func set(
        _ partitions: [String], of record: ItemRecord, in keychain: CommandKeychain, for person: PersonPrompt
    ) throws(CommandFailure) {
        try keychain.requireChangeable()
        try CommandFailure.mapErrors(function) { () throws(KeychainError) -> Void in
            let known = try record.accessList()
            let list = try AccessList(
                name: known?.name ?? "", programs: known?.programs ?? .unspecified, partitions: partitions)
            let update = ItemUpdate(attributes: [.accessList: list.attributeValue])
            let item = ItemQuery(
                record.itemClass, synchronizable: .any, persistentReference: record.persistentReference)
            try person.perform { (authentication) throws(KeychainError) in
                var item = item
                item.authentication = authentication
                _ = try keychain.session.update(item, with: update)
            }
        }
    }

    /// macOS's name for the call.
    private static let function = "SecKeychainItemSetAccessWithPassword"
}

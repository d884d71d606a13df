// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// What the partition-list commands do: they find the item, change nothing and say so.
enum PartitionList {
    static let options = [
        CommandOption("-S", .required("list"), isRequired: true, help: "the partitions, separated by commas; accepted"),
        CommandOption("-k", .required("password"), help: "the keychain's password; accepted and not looked at"),
    ]

    static let notes = [
        """
        On macOS a partition list says whose signed programs may use an item. Programs are not signed here: access groups keep them \
        apart, and the command changes nothing. It fails where there is no such item.
        """
    ]

    static func run(_ itemClass: ItemClass, _ arguments: ParsedArguments, in session: CommandSession)
        throws(CommandFailure)
    {
        let query = try PasswordSearch.query(itemClass, arguments)
        let keychain = try KeychainOperand.check(arguments.operands, in: session)
        _ = try PasswordSearch.find(query, returning: .attributes, in: keychain, for: session)
        session.warn("items have no partition list here; the item is there, and nothing was changed")
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// Implements the partition-list commands: they find the item, change nothing and report that.
enum PartitionList {
    static let options = [
        CommandOption("-S", .required("list"), isRequired: true, help: "the partitions, separated by commas; accepted"),
        CommandOption("-k", .required("password"), help: "the keychain's password; accepted and ignored"),
    ]

    static let notes = [
        """
        On macOS, a partition list names the signed programs that may use an item. Programs are not signed here: \
        access groups separate them, and this command changes nothing. It fails if there is no such item.
        """
    ]

    static func run(_ itemClass: ItemClass, _ arguments: ParsedArguments, in session: CommandSession)
        throws(CommandFailure)
    {
        let query = try PasswordSearch.query(itemClass, arguments)
        _ = try KeychainOperand.searched(arguments.operands, in: session).first {
            (keychain) throws(CommandFailure) in
            try PasswordSearch.find(query, returning: .attributes, in: keychain)
        }
        session.warn("items have no partition list here; the item was found, and nothing was changed")
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// `security set-internet-password-partition-list`.
enum SetInternetPasswordPartitionList: SecurityCommand {
    static let definition = CommandDefinition(
        name: "set-internet-password-partition-list",
        summary: "Set the partition list of internet password items (kept without effect).",
        options: CommandOption.internetCriteria + PartitionList.options + [.accessGroup],
        operands: "[keychain...]",
        notes: PartitionList.notes)

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        try PartitionList.run(.internetPassword, arguments, in: session)
    }
}

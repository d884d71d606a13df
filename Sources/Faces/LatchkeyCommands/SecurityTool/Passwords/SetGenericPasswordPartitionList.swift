// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// `security set-generic-password-partition-list`.
enum SetGenericPasswordPartitionList: SecurityCommand {
    static let definition = CommandDefinition(
        name: "set-generic-password-partition-list",
        summary: "Set the partition list of generic password items (kept without effect).",
        options: CommandOption.genericCriteria + PartitionList.options + [.accessGroup],
        operands: "[keychain...]",
        notes: PartitionList.notes)

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        try PartitionList.run(.genericPassword, arguments, in: session)
    }
}

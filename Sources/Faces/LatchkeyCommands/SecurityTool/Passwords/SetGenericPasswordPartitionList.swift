// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// `security set-generic-password-partition-list`.
enum SetGenericPasswordPartitionList: SecurityCommand {
    static let definition = CommandDefinition(
        name: "set-generic-password-partition-list",
        summary: "Find a generic password item; partition lists are accepted, and change nothing.",
        options: CommandOption.genericCriteria + PartitionList.options + [.accessGroup],
        operands: "[keychain...]",
        notes: PartitionList.notes)

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        try PartitionList.run(.genericPassword, arguments, in: session)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// `security lock-keychain`.
enum LockKeychain: SecurityCommand {
    static let definition = CommandDefinition(
        name: "lock-keychain",
        summary: "Lock the keychain.",
        options: [CommandOption("-a", help: "all keychains; there is one")],
        operands: "[keychain]",
        examples: ["lock-keychain"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        _ = try KeychainOperand.check(arguments.operands, in: session)
        try LockOperations.lock(immediately: false, in: session)
    }
}

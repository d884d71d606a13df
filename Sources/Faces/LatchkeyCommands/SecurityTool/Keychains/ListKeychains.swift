// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// `security list-keychains`.
enum ListKeychains: SecurityCommand {
    static let definition = CommandDefinition(
        name: "list-keychains",
        summary: "Show the keychain search list.",
        options: [KeychainDomain.option, CommandOption("-s", help: "set the list; accepted if it stays the same")],
        operands: "[keychain...]",
        notes: ["The list always consists of the user's one keychain. Its path is the only line."],
        examples: ["list-keychains"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        let domain = try KeychainDomain(arguments)
        let keychain = try KeychainOperand.check(arguments.operands, in: session)
        if arguments.contains("-s") {
            guard !arguments.operands.isEmpty, domain == .user else { throw SingleKeychain.fixed("the search list") }
        } else if domain == .user {
            try session.write(SingleKeychain.line(try KeychainPath.of(keychain)))
        }
    }
}

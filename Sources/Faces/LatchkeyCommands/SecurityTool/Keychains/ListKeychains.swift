// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// `security list-keychains`.
enum ListKeychains: SecurityCommand {
    static let definition = CommandDefinition(
        name: "list-keychains",
        summary: "Show or set the search list of keychains.",
        options: [
            KeychainDomain.option, CommandOption("-s", help: "search the keychains that are named, in this order"),
        ],
        operands: "[keychain...]",
        notes: [
            """
            Keychains of the system may be named with -s, as on macOS; their certificates are used for verification in \
            any case, so that they are not kept in the list. A keychain that does not exist is searched once it does.
            """
        ],
        examples: ["list-keychains", "list-keychains -d user -s build.keychain login.keychain"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        let domain = try KeychainDomain(arguments)
        if arguments.contains("-s") {
            guard domain == .user else { throw KeychainSetting.fixed(domain) }
            return try KeychainSetting.change(
                .search(try names(arguments.operands, in: session)), "SecKeychainSetSearchList")
        }
        switch domain {
        case .user:
            for path in try KeychainOperand.searchedPaths(in: session) { try session.write(KeychainSetting.line(path)) }
        case .system, .common:
            try session.write(KeychainSetting.line("/Library/Keychains/System.keychain"))
        case .dynamic: return
        }
    }

    /// Returns the user's keychains among the operands, with a note of those that do not exist.
    private static func names(
        _ operands: [CommandWord], in session: CommandSession
    ) throws(CommandFailure) -> [KeychainName] {
        let overview = try KeychainOperand.overview(in: session)
        var names: [KeychainName] = []
        for word in operands {
            guard case .named(let name) = try KeychainOperand(word, overview) else { continue }
            if overview.place(name) == nil {
                session.warn("note: there is no keychain '\(word.text)'; it is searched once it exists")
            }
            names.append(name)
        }
        return names
    }
}

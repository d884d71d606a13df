// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// What the commands about the list of keychains and the default say, where there is one keychain.
enum SingleKeychain {
    /// A keychain's path as macOS prints it.
    static func line(_ path: String) -> TerminalText {
        "    \"\(TerminalText(path, maxLength: nil))\"\n"
    }

    /// Refuses a change that cannot be made, rather than pretending.
    static func fixed(_ what: String) -> CommandFailure {
        .status(
            KeychainError(
                .unimplemented, "\(what) is always the one keychain of the user and cannot be changed",
                hint: "LATCHKEY_HOME=DIRECTORY chooses another keychain for a program and its children"))
    }

    /// Prints or "sets" the one keychain.
    static func showOrSet(
        _ what: String, _ function: String, _ arguments: ParsedArguments, in session: CommandSession
    ) throws(CommandFailure) {
        guard arguments.operands.count <= 1 else { throw .usage("\(what) is one keychain") }
        let domain = try KeychainDomain(arguments)
        let keychain = try KeychainOperand.check(arguments.operands, in: session)
        if arguments.contains("-s") {
            guard !arguments.operands.isEmpty, domain == .user else { throw fixed(what) }
            return
        }
        guard domain == .user else {
            throw .status(
                KeychainError(.noDefaultKeychain, "the domain \(domain.rawValue) has no keychain here"), of: function)
        }
        try session.write(line(try KeychainPath.of(keychain)))
    }

    /// The options of both commands.
    static let options = [
        KeychainDomain.option, CommandOption("-s", help: "set the keychain; accepted where it stays the same"),
    ]
}

// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// Implements the commands about the search list and the default keychain: there is only one
/// keychain.
enum SingleKeychain {
    /// Returns a keychain's path as macOS prints it.
    static func line(_ path: String) -> TerminalText {
        "    \"\(TerminalText(path, maxLength: nil))\"\n"
    }

    /// Returns the error for a change that is not possible.
    static func fixed(_ what: String) -> CommandFailure {
        .status(
            KeychainError(
                .unimplemented, "\(what) is always the one keychain of the user and cannot be changed",
                hint: "LATCHKEY_HOME=DIRECTORY chooses another keychain for a program and its children"))
    }

    /// Prints the one keychain, or accepts it as the one to set.
    static func showOrSet(
        _ what: String, _ function: String, _ arguments: ParsedArguments, in session: CommandSession
    ) throws(CommandFailure) {
        guard arguments.operands.count <= 1 else { throw .usage("at most one keychain is expected") }
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
        KeychainDomain.option, CommandOption("-s", help: "set the keychain; accepted if it stays the same"),
    ]
}

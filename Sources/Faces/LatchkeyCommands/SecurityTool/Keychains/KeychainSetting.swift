// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem

/// Implements `default-keychain` and `login-keychain`.
enum KeychainSetting {
    /// The options of both commands.
    static let options = [KeychainDomain.option, CommandOption("-s", help: "set the keychain")]

    /// Returns a keychain's path as macOS prints it.
    static func line(_ path: String) -> TerminalText {
        "    \"\(TerminalText(path, maxLength: nil))\"\n"
    }

    /// Prints a keychain, or sets it.
    ///
    /// - Parameters:
    ///   - name: the keychain of the user's domain.
    ///   - set: called with the keychain that `-s` names.
    static func showOrSet(
        _ name: (KeychainOverview) -> KeychainName, _ function: String, _ arguments: ParsedArguments,
        in session: CommandSession, set: (KeychainName) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        guard arguments.operands.count <= 1 else { throw .usage("at most one keychain is expected") }
        let domain = try KeychainDomain(arguments)
        if arguments.contains("-s") {
            guard domain == .user else { throw fixed(domain) }
            // Without a name, macOS forgets the setting.
            return try set(
                try arguments.operands.first.map { (word) throws(CommandFailure) in
                    try existing(word, in: session)
                } ?? .login)
        }
        guard domain == .user else {
            throw .status(
                KeychainError(.noDefaultKeychain, "the domain \(domain.rawValue) has no keychain here"), of: function)
        }
        let overview = try KeychainOperand.overview(in: session)
        let keychain = try KeychainOperand.one(CommandWord(name(overview).text), in: session)
        try session.write(line(try keychain.path()))
    }

    /// Returns the keychain of a word. It must exist and be the user's.
    static func existing(_ word: CommandWord, in session: CommandSession) throws(CommandFailure) -> KeychainName {
        let overview = try KeychainOperand.overview(in: session)
        let name = try own(word, overview)
        guard overview.place(name) != nil else { throw missing(name, word) }
        return name
    }

    /// Returns the keychain of a word. It must be the user's.
    static func own(_ word: CommandWord, _ overview: KeychainOverview) throws(CommandFailure) -> KeychainName {
        guard case .named(let name) = try KeychainOperand(word, overview) else {
            throw .status(
                KeychainError(.readOnly, "a keychain of the system cannot be set here"),
                of: "\(KeychainOperand.function) \(word.text)")
        }
        return name
    }

    static func missing(_ name: KeychainName, _ word: CommandWord) -> CommandFailure {
        .status(UserKeychains.missing(name), of: "\(KeychainOperand.function) \(word.text)")
    }

    /// The error for a domain without settings.
    static func fixed(_ domain: KeychainDomain) -> CommandFailure {
        .status(KeychainError(.unimplemented, "the domain \(domain.rawValue) cannot be changed here; only user can"))
    }

    static func change(_ change: KeychainListChange, _ function: String) throws(CommandFailure) {
        try CommandFailure.mapErrors(function) { () throws(KeychainError) in
            try KeychainClient.registry().changeKeychainList(change)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyService

/// `latchkey consent`.
struct ConsentCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.consent.rawValue, abstract: LatchkeySubcommand.consent.abstract,
        discussion: """
            Where you want it, you are asked before a desktop program reads a password by the Secret Service that it \
            has not stored itself: 'latchkey settings consent creator'. This guards against mistakes, and isolates \
            nothing: a program is known by its path only, and every program of yours can run another one, or read the \
            keychain itself.

            EXAMPLES:
              latchkey settings consent creator
              latchkey consent allow /usr/bin/seahorse
              latchkey consent list
              latchkey consent forget /usr/bin/seahorse
            """,
        subcommands: [ConsentList.self, ConsentAllow.self, ConsentForget.self])
}

extension CommandSession {
    /// Returns the consents of the keychain.
    func consents() throws(CommandFailure) -> KeychainConsents { KeychainConsents(try keychain()) }
}

extension ProgramPath {
    /// - Throws: errSecParam for a text that is no absolute path.
    init(argument text: String) throws(CommandFailure) {
        guard let path = ProgramPath(text) else {
            throw .parameter("the path of a program begins with /, and has at most \(ProgramPath.maxLength) bytes")
        }
        self = path
    }
}

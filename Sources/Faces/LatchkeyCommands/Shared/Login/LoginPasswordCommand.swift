// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyClient
internal import LatchkeyService

/// `latchkey login-password unlock | change`. The PAM module pam_latchkey runs it as the user (Documentation/Login.md).
/// No person types it, so no help lists it. The words are on standard input
/// (``LoginWords``), and the exit value is a ``LoginOutcome``.
enum LoginPasswordCommand {
    static let name = "login-password"

    private enum Verb: String {
        case unlock, change
    }

    /// - Returns: a ``LoginOutcome``. The status of an error could have the exit value of another outcome.
    static func execute(_ words: ArraySlice<CommandWord>, in session: CommandSession) -> Int32 {
        do throws(CommandFailure) {
            return try outcome(words.map(\.text), in: session).rawValue
        } catch {
            session.report(error, of: name, as: .latchkey)
            return LoginOutcome.failed.rawValue
        }
    }

    /// The keychain that every user has.
    static func keychain() throws(CommandFailure) -> KeychainSession {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try KeychainClient.session(named: .login) }
    }

    private static func outcome(_ words: [String], in session: CommandSession) throws(CommandFailure) -> LoginOutcome {
        guard words.count == 1, let verb = words.first.flatMap(Verb.init(rawValue:)) else {
            throw .parameter("expected '\(name) unlock' or '\(name) change'")
        }
        let passwords = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try LoginWords.read(verb == .unlock ? 1 : 2, from: session.io)
        }
        // A login creates no keychain.
        let missing = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try KeychainClient.missingHome() }
        guard missing == nil, let password = passwords.first else { return .nothingChanged }
        switch verb {
        case .unlock: return try LoginUnlock.run(password, in: session)
        case .change: return try LoginChange.run(from: password, to: passwords.last ?? password)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// `security lock-keychain`.
enum LockKeychain: SecurityCommand {
    static let definition = CommandDefinition(
        name: "lock-keychain",
        summary: "Lock a keychain.",
        options: [CommandOption("-a", help: "all keychains of the search list")],
        operands: "[keychain]",
        notes: [
            """
            Without a passcode, the login keychain cannot be locked; with -a, a note says so. A keychain with an empty \
            password stays unlocked, and a note says so: such a lock would protect nothing.
            """
        ],
        examples: ["lock-keychain", "lock-keychain build.keychain", "lock-keychain -a"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        guard arguments.contains("-a") else {
            let keychain = try KeychainOperand.one(of: arguments.operands, in: session)
            try keychain.requireChangeable()
            return try lock(keychain, in: session)
        }
        try KeychainOperand.searched([], in: session).forEach(in: session) { (keychain) throws(CommandFailure) in
            let hasPasscode = try LockOperations.hasPasscode(keychain.session)
            guard hasPasscode, try LockOperations.isShared(keychain.session, session) else {
                session.warn(
                    "note: \(try keychain.path()) \(hasPasscode ? "is unlocked in no other process" : "has no passcode"), and stays as it is"
                )
                return
            }
            try lock(keychain, in: session)
        }
    }

    /// A keychain of a script has no grace period, as on macOS.
    private static func lock(_ keychain: CommandKeychain, in session: CommandSession) throws(CommandFailure) {
        let hasPasscode = try LockOperations.hasPasscode(keychain.session)
        guard hasPasscode || keychain.name == .login else {
            session.warn("note: \(try keychain.path()) has an empty password, and stays unlocked")
            return
        }
        try LockOperations.lock(keychain.session, immediately: keychain.name != .login, in: session)
    }
}

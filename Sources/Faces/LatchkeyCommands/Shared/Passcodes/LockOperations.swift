// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyOperations
internal import LatchkeyService
internal import SecretMemory

/// The lock operations of commands. The daemon's lock is shared by all programs. Without a daemon, each process has its
/// own lock until it ends; only commands that one process reads one after the other (`security -i`) share it.
enum LockOperations {
    static func lock(
        _ keychain: KeychainSession, immediately: Bool, in session: CommandSession
    ) throws(CommandFailure) {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            guard try keychain.lockStatus().hasPasscode else {
                throw KeychainError(
                    .param, "no passcode is set; nothing can be locked", hint: "latchkey passcode set")
            }
            try requireSharing(keychain, session)
            try keychain.lock(immediately: immediately)
        }
    }

    static func unlock(
        _ keychain: KeychainSession, _ source: PasscodeSource, prompt: StaticString = PasscodeSource.prompt,
        in session: CommandSession
    ) throws(CommandFailure) {
        // Without a passcode there is nothing to unlock. This is not an error, because scripts that
        // unlock the keychain must continue.
        guard try needsPasscode(keychain, session) else { return }
        let passcode = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try source.read(prompt, in: session)
        }
        try unlock(keychain, with: passcode, in: session)
    }

    static func unlock(_ keychain: KeychainSession, with passcode: SharedSecret, in session: CommandSession)
        throws(CommandFailure)
    {
        guard try needsPasscode(keychain, session) else { return }
        let progress = ProgressLine("items re-encrypted", io: session.io)
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            defer { progress.clear() }
            try keychain.unlock(passcode) { progress.show($0, of: $1) }
        }
    }

    static func hasPasscode(_ keychain: KeychainSession) throws(CommandFailure) -> Bool {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try keychain.lockStatus().hasPasscode }
    }

    private static func needsPasscode(_ keychain: KeychainSession, _ session: CommandSession) throws(CommandFailure)
        -> Bool
    {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            guard try keychain.lockStatus().hasPasscode else { return false }
            try requireSharing(keychain, session)
            return true
        }
    }

    /// Whether a lock affects other processes, or commands of this one.
    static func isShared(_ keychain: KeychainSession, _ session: CommandSession) throws(CommandFailure) -> Bool {
        guard !session.readsCommands else { return true }
        return try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try keychain.status().mode.isShared }
    }

    private static func requireSharing(_ keychain: KeychainSession, _ session: CommandSession) throws(KeychainError) {
        if session.readsCommands { return }
        guard try !keychain.status().mode.isShared else { return }
        throw KeychainError(
            .notAvailable,
            "without latchkeyd, each process has its own lock, and this command would have no effect",
            hint: "start latchkeyd; or give the passcode to each command: --passcode-file FILE, LATCHKEY_PASSCODE_FILE"
        )
    }
}

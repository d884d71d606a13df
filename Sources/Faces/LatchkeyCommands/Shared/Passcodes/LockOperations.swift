// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import SecretMemory

/// The lock operations of commands. The daemon's lock is shared by all programs. Without a daemon,
/// each process has its own lock, which ends with the process; only commands that one process reads
/// one after the other (`security -i`) share it.
enum LockOperations {
    static func lock(immediately: Bool, in session: CommandSession) throws(CommandFailure) {
        let keychain = try session.keychain()
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            guard try keychain.lockStatus().hasPasscode else {
                throw KeychainError(
                    .param, "no passcode is set; nothing can be locked", hint: "latchkey passcode set")
            }
            try requireSharing(keychain, session)
            try keychain.lock(immediately: immediately)
        }
    }

    static func unlock(_ source: PasscodeSource, in session: CommandSession) throws(CommandFailure) {
        let keychain = try session.keychain()
        // Without a passcode there is nothing to unlock. This is not an error, because scripts that
        // unlock the keychain must continue.
        guard try needsPasscode(keychain, session) else { return }
        let passcode = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try source.read("password to unlock the keychain: ", in: session)
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

    private static func needsPasscode(_ keychain: KeychainSession, _ session: CommandSession) throws(CommandFailure)
        -> Bool
    {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            guard try keychain.lockStatus().hasPasscode else { return false }
            try requireSharing(keychain, session)
            return true
        }
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

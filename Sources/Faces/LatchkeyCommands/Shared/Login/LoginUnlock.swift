// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import SecretMemory

/// Unlocks the user's keychain with the login password.
enum LoginUnlock {
    static func run(_ password: SharedSecret, in session: CommandSession) throws(CommandFailure) -> LoginOutcome {
        guard try needsPasscode(try LoginPasswordCommand.keychain()) else { return .nothingChanged }
        // The lock of this process ends with it.
        try DaemonStart.ifNeeded(in: session)
        let keychain = try LoginPasswordCommand.keychain()
        return try CommandFailure.mapErrors(nil) { () throws(KeychainError) -> LoginOutcome in
            guard try keychain.status().mode.isShared else { return .nothingChanged }
            guard try LoginAttempt.isAllowed(keychain.lockStatus()) else { return .staysLockedAsReported }
            return try unlock(keychain, password)
        }
    }

    private static func needsPasscode(_ keychain: KeychainSession) throws(CommandFailure) -> Bool {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            let status = try keychain.lockStatus()
            return status.hasPasscode && status.state != .unlocked
        }
    }

    private static func unlock(
        _ keychain: KeychainSession, _ password: SharedSecret
    ) throws(KeychainError) -> LoginOutcome {
        do throws(KeychainError) {
            try keychain.unlock(password) { _, _ in }
        } catch {
            guard LoginAttempt.isWrong(error) else { throw error }
            return LoginRefusalMarker.set() ? .staysLocked : .staysLockedAsReported
        }
        LoginRefusalMarker.remove()
        return .done
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import SecretMemory

/// Changes the passcode together with the login password, if the user has tied them.
enum LoginChange {
    static func run(from old: SharedSecret, to new: SharedSecret) throws(CommandFailure) -> LoginOutcome {
        let keychain = try LoginPasswordCommand.keychain()
        return try CommandFailure.mapErrors(nil) { () throws(KeychainError) -> LoginOutcome in
            let status = try keychain.lockStatus()
            guard status.hasPasscode, status.settings.isTiedToLogin else { return .nothingChanged }
            guard LoginAttempt.isAllowed(status) else { return .notChanged }
            return try change(keychain, from: old, to: new)
        }
    }

    private static func change(
        _ keychain: KeychainSession, from old: SharedSecret, to new: SharedSecret
    ) throws(KeychainError) -> LoginOutcome {
        do throws(KeychainError) {
            try keychain.changePasscode(from: old, to: new, rotates: false) { _, _ in }
        } catch {
            // Also a password that is no passcode, because it is too short.
            guard LoginAttempt.isWrong(error) || error.status == .param else { throw error }
            return .notChanged
        }
        LoginRefusalMarker.remove()
        return .done
    }
}

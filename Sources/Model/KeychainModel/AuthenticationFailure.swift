// SPDX-License-Identifier: Apache-2.0

/// Why an authentication did not succeed. The raw value is an error code of Apple's `LAError`.
public enum AuthenticationFailure: Int32, Sendable, CaseIterable {
    /// The person did not provide the requested authentication.
    case failed = -1
    /// The person cancelled the prompt.
    case userCancel = -2
    /// The person chose the fallback instead of biometry.
    case userFallback = -3
    /// The prompt ended without the person: by its timeout, or because the keychain was locked.
    case systemCancel = -4
    /// The keychain has no passcode.
    case passcodeNotSet = -5
    /// There is no biometry on this machine, or it cannot be used here.
    case biometryNotAvailable = -6
    /// No biometry is enrolled.
    case biometryNotEnrolled = -7
    /// Biometry is locked until the passcode is given, after too many misses.
    case biometryLockout = -8
    /// The program ended the prompt.
    case appCancel = -9
    /// The context was invalidated, or belongs to another process.
    case invalidContext = -10
    /// The person cannot be asked: there is no terminal or display, or the program forbids it.
    case notInteractive = -1004

    /// The status of an item call that fails for this reason (keychain-behaviour §3.9).
    public var status: OSStatusCode {
        switch self {
        case .userCancel: .userCanceled
        case .notInteractive: .interactionNotAllowed
        default: .authFailed
        }
    }
}

extension KeychainError {
    /// The error of an authentication that failed.
    ///
    /// - Parameter problem: the expected and the actual state.
    public static func authentication(_ failure: AuthenticationFailure, _ problem: String, hint: String? = nil)
        -> KeychainError
    {
        var error = KeychainError(failure.status, problem, hint: hint)
        error.authentication = .failed(failure)
        return error
    }

    /// The error of a call that needs the person: errSecAuthNeeded. It does not leave this package.
    public static func authenticationNeeded(for target: AuthenticationTarget) -> KeychainError {
        var error = KeychainError(.authNeeded, "the access control of the item requires authentication")
        error.authentication = .needed(target)
        return error
    }

    /// The authentication that a call needs, or the reason for its failure.
    public enum AuthenticationDetail: Hashable, Sendable {
        /// The call succeeds after an authentication.
        case needed(AuthenticationTarget)
        /// The authentication failed.
        case failed(AuthenticationFailure)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The requirements of
/// `LAContext.evaluatePolicy` for the person. The raw values are Apple's, except that of ``latchkeySecurityKey``.
public enum LAPolicy: Int, Sendable {
    /// Biometry, and nothing else: a finger that is enrolled with fprintd.
    case deviceOwnerAuthenticationWithBiometrics = 1
    /// Biometry or the passcode of the keychain.
    case deviceOwnerAuthentication = 2
    /// Another device of the owner. No such device is supported on Linux: the evaluation fails with
    /// `LAError.companionNotAvailable`.
    case deviceOwnerAuthenticationWithCompanion = 3
    /// Biometry or another device of the owner; on Linux the same as
    /// ``deviceOwnerAuthenticationWithBiometrics``.
    case deviceOwnerAuthenticationWithBiometricsOrCompanion = 4
    /// An enrolled FIDO2 security key. Apple has no such policy.
    case latchkeySecurityKey = 1001

    /// The older name of ``deviceOwnerAuthenticationWithCompanion``.
    public static let deviceOwnerAuthenticationWithWatch = deviceOwnerAuthenticationWithCompanion
    /// The older name of ``deviceOwnerAuthenticationWithBiometricsOrCompanion``.
    public static let deviceOwnerAuthenticationWithBiometricsOrWatch =
        deviceOwnerAuthenticationWithBiometricsOrCompanion
}

extension LAPolicy {
    /// The policy of the keychain; nil if the policy is not supported on Linux.
    var authentication: AuthenticationPolicy? {
        switch self {
        case .deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthenticationWithBiometricsOrCompanion: .biometry
        case .deviceOwnerAuthentication: .owner
        case .deviceOwnerAuthenticationWithCompanion: nil
        case .latchkeySecurityKey: .securityKey
        }
    }

    /// Whether only biometry satisfies the policy.
    var isBiometric: Bool { authentication == .biometry }

    /// Returns why the policy cannot be evaluated now; nil if it can. The order of the checks is
    /// that of Apple's LAContext.h.
    func problem(with status: PresenceStatus) -> LAError? {
        switch authentication {
        case .biometry: status.biometryProblem
        case .owner: status.ownerProblem
        case .securityKey: status.securityKeyProblem
        case nil: LAError(.companionNotAvailable, "no device can authenticate for this one on Linux")
        }
    }
}

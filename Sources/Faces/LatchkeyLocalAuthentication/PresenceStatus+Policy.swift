// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import KeychainModel
internal import OpenSSLCrypto

extension PresenceStatus {
    /// Why biometry cannot be used; nil if it can.
    var biometryProblem: LAError? {
        switch biometry {
        case .notAvailable: LAError(.biometryNotAvailable, unavailability(), hint: hint)
        case .notEnrolled:
            LAError(.biometryNotEnrolled, "no finger is enrolled for this user", hint: "fprintd-enroll enrolls one")
        case .lockedOut:
            LAError(
                .biometryLockout, "biometry is locked after too many misses",
                hint: "evaluate deviceOwnerAuthentication: the passcode unlocks it")
        case .needsPasscode: hasPasscode ? LAError.beforeUnlock : LAError.withoutPasscode
        case .available: hasPasscode ? nil : LAError.withoutPasscode
        }
    }

    /// Why the owner cannot be asked; nil if this is possible.
    var ownerProblem: LAError? {
        guard hasPasscode else { return LAError.withoutPasscode }
        guard biometry == .available || methods.contains(where: { $0.problem == nil }) else {
            return LAError(.notInteractive, "the person cannot be asked: \(unavailability())", hint: hint)
        }
        return nil
    }

    /// Why no security key can be used; nil if one can.
    var securityKeyProblem: LAError? {
        guard securityKeys == 0 else { return nil }
        return LAError(
            .companionNotAvailable, "no security key is enrolled", hint: "latchkey security-key enroll enrolls one")
    }

    /// The biometry that apps know by the name Touch ID: a fingerprint sensor.
    var biometryType: LABiometryType { biometry == .notAvailable ? .none : .touchID }

    /// An identifier of the enrolled biometry for a program: 32 bytes; nil if there is none. It is a digest of the
    /// enrolled set, because programs do not receive the set.
    var domainState: Data? {
        guard biometry == .available, let enrolledSet else { return nil }
        let input = Array("latchkey v1 domain state".utf8) + enrolledSet.digest
        return (try? input.withUnsafeBytes { try HashFunction.sha256.digest(of: $0) }).map { Data($0) }
    }

    private func unavailability() -> String {
        let reasons = methods.compactMap { method in method.problem.map { "\(method.name): \($0)" } }
        return reasons.isEmpty ? "no method is installed" : reasons.joined(separator: "; ")
    }

    private var hint: String? { methods.lazy.compactMap(\.hint).first }
}

extension LAError {
    /// The error of a call that needs a passcode.
    static var withoutPasscode: LAError {
        LAError(.passcodeNotSet, "the keychain has no passcode", hint: "latchkey passcode set")
    }

    /// The error of biometry while its key is not held.
    fileprivate static var beforeUnlock: LAError {
        LAError(
            .biometryNotAvailable,
            "biometry needs the passcode once after latchkeyd has started, and after the keychain was locked",
            hint: "latchkey unlock")
    }
}

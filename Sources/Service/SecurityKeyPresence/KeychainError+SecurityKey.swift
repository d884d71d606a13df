// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import SecurityKey

extension KeychainError {
    /// LAError has no code for a security key: one that cannot be asked is like a person who cannot
    /// be asked, so that the next method follows.
    init(_ error: SecurityKeyError) {
        switch error {
        case .notConnected, .accessDenied, .busy, .notFIDO2:
            self = .authentication(.notInteractive, error.description, hint: error.hint)
        case .noTouch, .cancelled: self = .authentication(.systemCancel, error.description, hint: error.hint)
        case .hmacSecretUnsupported, .libraryFailed, .libraryMissing:
            self.init(.notAvailable, error.description, hint: error.hint)
        case .outOfMemory: self.init(.allocate, error.description)
        case .credentialDamaged: self.init(.decode, error.description, hint: "latchkey doctor")
        case .newerCredential: self.init(.wrongSecVersion, error.description)
        case .otherDevice, .denied, .pinRequired, .wrongPIN, .pinPaused, .pinBlocked, .pinNotSet, .pinChangeRequired,
            .invalidPIN, .notResponding, .connectionFailed, .invalidAnswer, .wrongSignature, .presenceNotTested,
            .pinNotTested, .userVerified, .proofRefused, .refused:
            self = .authentication(.failed, error.description, hint: error.hint)
        }
    }
}

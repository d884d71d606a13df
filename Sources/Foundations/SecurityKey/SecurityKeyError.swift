// SPDX-License-Identifier: Apache-2.0

/// Why an operation of a security key failed.
public enum SecurityKeyError: Error, Hashable, Sendable {
    // MARK: The device

    /// The device does not exist, or was removed.
    case notConnected(path: String)
    /// This user must not open the device.
    case accessDenied(path: String)
    /// Another program uses the device.
    case busy(path: String)
    /// The device does not support FIDO2, or does not describe itself as FIDO2 requires.
    case notFIDO2
    /// The device cannot derive secrets.
    case hmacSecretUnsupported
    /// The device did not create the credential.
    case otherDevice

    // MARK: The user

    /// The user did not touch the device within the timeout.
    case noTouch
    /// The user, or the device, denied the operation.
    case denied
    /// ``SecurityKeyCancellation/request()`` was called, or the device was told to stop.
    case cancelled
    /// The operation needs the PIN.
    case pinRequired
    /// The PIN is wrong; the number of attempts that are left, if the device reports it.
    case wrongPIN(retries: Int?)
    /// After three wrong PINs, the device must be unplugged and plugged in before the next one.
    case pinPaused
    /// After too many wrong PINs, the device accepts no PIN. Only a reset helps, and it removes all credentials.
    case pinBlocked
    /// The device has no PIN.
    case pinNotSet
    /// The device accepts the PIN only after it was changed.
    case pinChangeRequired
    /// A PIN cannot have this length or content: 4 to 63 bytes of UTF-8.
    case invalidPIN

    // MARK: The answer

    /// The device did not answer within the timeout, although no touch was needed.
    case notResponding
    /// The connection ended, or the device sent frames that are not part of the answer.
    case connectionFailed
    /// The answer is not well formed, or does not belong to the request; the text has the reason.
    case invalidAnswer(String)
    /// The answer is not signed by the key of the credential.
    case wrongSignature
    /// The answer says that no user was present.
    case presenceNotTested
    /// The answer says that the PIN was not verified, although it was sent.
    case pinNotTested
    /// The device has verified the user, but the credential was enrolled for a touch alone: the
    /// secret would be another one.
    case userVerified
    /// The device does not prove without the PIN that it has the credential, although the enrolled
    /// device does.
    case proofRefused
    /// The device returned a status of CTAP 2 that no other case describes.
    case refused(status: UInt8)

    // MARK: The credential, and this process

    /// A stored credential is damaged; the text has the reason.
    case credentialDamaged(String)
    /// A stored credential was written by another version.
    case newerCredential(found: UInt16, known: UInt16)
    /// The required memory could not be allocated.
    case outOfMemory
    /// libfido2 failed with this number.
    case libraryFailed(Int32)
    /// libfido2 cannot be opened; the text says why.
    case libraryMissing(String)
}

// MARK: CustomStringConvertible

extension SecurityKeyError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notConnected(let path): "security key not found\(path.isEmpty ? "" : ": \(path)")"
        case .accessDenied(let path): "no permission to open the security key \(path)"
        case .busy(let path): "another program uses the security key \(path)"
        case .notFIDO2: "the device does not support FIDO2 (CTAP 2)"
        case .hmacSecretUnsupported: "the security key does not support hmac-secret, so it cannot derive a secret"
        case .otherDevice: "this is not the security key that was enrolled"
        case .noTouch: "the security key was not touched in time"
        case .denied: "the security key denied the operation"
        case .cancelled: "the operation of the security key was cancelled"
        case .pinRequired: "the PIN of the security key is required"
        case .wrongPIN(let retries?): "wrong PIN of the security key; attempts left: \(retries)"
        case .wrongPIN(nil): "wrong PIN of the security key"
        case .pinPaused: "the security key accepts no PIN until it is plugged in again, after three wrong ones"
        case .pinBlocked: "the PIN of the security key is blocked, after too many wrong ones"
        case .pinNotSet: "the security key has no PIN"
        case .pinChangeRequired: "the security key requires a new PIN"
        case .invalidPIN: "the PIN of a security key has 4 to 63 bytes of UTF-8"
        case .notResponding: "the security key does not answer"
        case .connectionFailed: "the connection to the security key failed"
        case .invalidAnswer(let reason): "the answer of the security key is not valid: \(reason)"
        case .wrongSignature: "the answer of the security key has a wrong signature"
        case .presenceNotTested: "the security key did not test the presence of a user"
        case .pinNotTested: "the security key did not verify the PIN"
        case .userVerified: "the security key verified the user, but it was enrolled for a touch alone"
        case .proofRefused: "the security key does not prove without its PIN that it is the one that was enrolled"
        case .refused(let status): "the security key refused the operation: CTAP status \(status)"
        case .credentialDamaged(let reason): "the stored credential of the security key is damaged: \(reason)"
        case .newerCredential(let found, let known):
            "the stored credential of the security key has version \(found), expected \(known)"
        case .outOfMemory: "no memory for the operation of the security key"
        case .libraryFailed(let status): "libfido2 failed with status \(status)"
        case .libraryMissing(let reason): "libfido2 cannot be opened: \(reason)"
        }
    }

    /// The remedy for the user, if it is known.
    public var hint: String? {
        switch self {
        case .notConnected, .connectionFailed, .notResponding: "plug the security key in again"
        case .accessDenied: "install the udev rules for security keys (Debian: libfido2-1), and plug the key in again"
        case .busy: "end the other program, or wait until it has finished"
        case .otherDevice: "plug in the security key that was enrolled"
        case .noTouch: "touch the security key when it blinks"
        case .pinPaused: "unplug the security key, and plug it in again"
        case .pinBlocked: "fido2-token -R DEVICE resets the security key, and removes all its credentials"
        case .pinNotSet: "fido2-token -S DEVICE sets a PIN"
        case .pinChangeRequired: "fido2-token -C DEVICE changes the PIN"
        case .userVerified: "enroll the security key again, with its PIN"
        case .libraryMissing: "install libfido2 (Debian: libfido2-1)"
        case .proofRefused: "if its setting alwaysUv was turned on after the enrollment, enroll it again"
        default: nil
        }
    }
}

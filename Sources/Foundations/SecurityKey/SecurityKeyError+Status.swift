// SPDX-License-Identifier: Apache-2.0

internal import CFido2

extension SecurityKeyError {
    /// The error of a status of libfido2: positive ones are the device's (CTAP 2.1, 8.2), negative
    /// ones are libfido2's own.
    init(status: Int32) {
        self = Self.named[status] ?? UInt8(exactly: status).map(Self.refused) ?? .libraryFailed(status)
    }

    /// The error of a status of `fido_assert_verify` or `fido_cred_verify`.
    init(verification status: Int32) {
        self =
            switch status {
            case FIDO_ERR_INVALID_SIG: .wrongSignature
            case FIDO_ERR_INVALID_PARAM: .invalidAnswer("it is for another relying party, or has other extensions")
            case FIDO_ERR_UNSUPPORTED_OPTION: .invalidAnswer("its attestation is of an unsupported format")
            case FIDO_ERR_INVALID_ARGUMENT: .invalidAnswer("it is not complete")
            default: .libraryFailed(status)
            }
    }

    private static let named: [Int32: SecurityKeyError] = [
        FIDO_ERR_INVALID_CREDENTIAL: .otherDevice,
        FIDO_ERR_NO_CREDENTIALS: .otherDevice,
        FIDO_ERR_OPERATION_DENIED: .denied,
        FIDO_ERR_NOT_ALLOWED: .denied,
        FIDO_ERR_KEEPALIVE_CANCEL: .cancelled,
        FIDO_ERR_USER_ACTION_TIMEOUT: .noTouch,
        FIDO_ERR_ACTION_TIMEOUT: .noTouch,
        FIDO_ERR_TIMEOUT: .notResponding,
        FIDO_ERR_PIN_INVALID: .wrongPIN(retries: nil),
        FIDO_ERR_PIN_BLOCKED: .pinBlocked,
        FIDO_ERR_PIN_AUTH_BLOCKED: .pinPaused,
        FIDO_ERR_PIN_NOT_SET: .pinNotSet,
        FIDO_ERR_PIN_REQUIRED: .pinRequired,
        FIDO_ERR_PIN_POLICY_VIOLATION: .pinChangeRequired,
        FIDO_ERR_UNSUPPORTED_EXTENSION: .hmacSecretUnsupported,
        FIDO_ERR_UNSUPPORTED_ALGORITHM: .notFIDO2,
        FIDO_ERR_TX: .connectionFailed,
        FIDO_ERR_RX: .connectionFailed,
        FIDO_ERR_RX_NOT_CBOR: .invalidAnswer("it is not CBOR"),
        FIDO_ERR_RX_INVALID_CBOR: .invalidAnswer("its fields are not those of CTAP 2"),
        FIDO_ERR_INVALID_CBOR: .invalidAnswer("its fields are not those of CTAP 2"),
    ]
}

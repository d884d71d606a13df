// SPDX-License-Identifier: Apache-2.0

internal import CFido2
internal import LinuxSystem

/// The creation of one credential (CTAP 2.1, 6.1).
struct Enrollment: ~Copyable {
    private let object: LibraryObject
    private let verification: UserVerification

    init(verification: UserVerification) throws(SecurityKeyError) {
        object = try LibraryObject(fido_cred_new(), freedBy: fido_cred_free)
        self.verification = verification
    }

    /// Lets the device create the credential, and verifies its answer.
    consuming func run(
        on device: OpenDevice, pin: SecurityKeyPIN?, timeout: Duration
    ) throws(SecurityKeyError) -> SecurityKeyCredential {
        try configure()
        try device.ask(pin: pin, timeout: timeout) { fido_dev_make_cred($0, pointer, $1) }
        try verify()
        guard fido_cred_type(pointer) == COSE_ES256 else { throw .invalidAnswer("the key is not of P-256") }
        do {
            return try SecurityKeyCredential(
                id: Array(UnsafeBufferPointer(start: fido_cred_id_ptr(pointer), count: fido_cred_id_len(pointer))),
                publicKey: Array(
                    UnsafeBufferPointer(start: fido_cred_pubkey_ptr(pointer), count: fido_cred_pubkey_len(pointer))),
                salt: RandomBytes.array(count: SecurityKeyCredential.saltCount), verification: verification)
        } catch .credentialDamaged(let reason) {
            throw .invalidAnswer("the new credential is not valid: \(reason)")
        }
    }

    private var pointer: OpaquePointer { object.pointer }

    private func configure() throws(SecurityKeyError) {
        let user = RandomBytes.array(count: 32)
        let challenge = RandomBytes.array(count: 32)
        // The names are shown by devices with a display. The user's identifier is random, so that
        // the device learns nothing about the user.
        try LibraryObject.requireSet(
            fido_cred_set_type(pointer, COSE_ES256),
            fido_cred_set_clientdata_hash(pointer, challenge, challenge.count),
            fido_cred_set_rp(pointer, SecurityKey.relyingParty, "Latchkey"),
            fido_cred_set_user(pointer, user, user.count, "latchkey", "Latchkey", nil),
            fido_cred_set_extensions(pointer, FIDO_EXT_HMAC_SECRET),
            fido_cred_set_uv(pointer, verification == .pin ? FIDO_OPT_TRUE : FIDO_OPT_OMIT))
    }

    /// Verifies that the answer belongs to this request. The model of the device is not verified: its manufacturer's
    /// certificate is not trusted, and not needed.
    private func verify() throws(SecurityKeyError) {
        let flags = AnswerFlags(rawValue: fido_cred_flags(pointer))
        guard flags.contains(.userPresent) else { throw .presenceNotTested }
        guard verification == .touch || flags.contains(.userVerified) else { throw .pinNotTested }
        guard flags.contains(.extensions) else { throw .hmacSecretUnsupported }
        let format = fido_cred_fmt(pointer).map { String(cString: $0) }
        let status =
            switch format {
            // The device signs with the new key itself, or with its manufacturer's.
            case "packed": fido_cred_x5c_len(pointer) == 0 ? fido_cred_verify_self(pointer) : fido_cred_verify(pointer)
            // There is no signature; the first derivation verifies that the device has the key.
            case "none": FIDO_OK
            default: FIDO_ERR_UNSUPPORTED_OPTION
            }
        guard status == FIDO_OK else { throw SecurityKeyError(verification: status) }
    }
}

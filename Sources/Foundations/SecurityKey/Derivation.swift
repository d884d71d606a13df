// SPDX-License-Identifier: Apache-2.0

internal import CFido2
internal import LinuxSystem
internal import SecretMemory

/// The derivation of a credential's secret (CTAP 2.1, 6.2 and 12.5).
struct Derivation: ~Copyable {
    private let object: LibraryObject
    private let credential: SecurityKeyCredential

    init(_ credential: SecurityKeyCredential) throws(SecurityKeyError) {
        object = try LibraryObject(fido_assert_new(), freedBy: fido_assert_free)
        self.credential = credential
    }

    /// Lets the device derive the secret, verifies its answer, and returns 32 bytes.
    consuming func run(
        on device: OpenDevice, pin: SecurityKeyPIN?, timeout: Duration
    ) throws(SecurityKeyError) -> SecretBytes {
        try configure()
        try LibraryObject.requireSet(
            fido_assert_set_extensions(pointer, FIDO_EXT_HMAC_SECRET),
            fido_assert_set_hmac_salt(pointer, credential.salt, credential.salt.count),
            fido_assert_set_up(pointer, FIDO_OPT_TRUE),
            fido_assert_set_uv(pointer, pin == nil ? FIDO_OPT_OMIT : FIDO_OPT_TRUE))
        try device.ask(pin: pin, timeout: timeout) { fido_dev_get_assert($0, pointer, $1) }
        try verify()
        let count = fido_assert_hmac_secret_len(pointer, 0)
        guard count == Self.secretCount, let secret = fido_assert_hmac_secret_ptr(pointer, 0) else {
            throw .invalidAnswer("its secret has \(count) bytes, expected \(Self.secretCount)")
        }
        // EXPOSE: libfido2 decrypts the secret into memory of its own, and wipes it when the object is freed.
        return SecretBytes(copying: UnsafeRawBufferPointer(start: secret, count: count))
    }

    /// Asks the device for an answer without a present user and without the secret, and verifies
    /// its signature.
    ///
    /// - Throws: ``SecurityKeyError/otherDevice`` if the device does not have the credential.
    consuming func probe(_ device: OpenDevice) throws(SecurityKeyError) {
        try configure()
        try LibraryObject.requireSet(fido_assert_set_up(pointer, FIDO_OPT_FALSE))
        try device.query { fido_dev_get_assert($0, pointer, nil) }
        try verifySignature()
    }

    private var pointer: OpaquePointer { object.pointer }

    private func configure() throws(SecurityKeyError) {
        let challenge = RandomBytes.array(count: 32)
        try LibraryObject.requireSet(
            fido_assert_set_clientdata_hash(pointer, challenge, challenge.count),
            fido_assert_set_rp(pointer, SecurityKey.relyingParty),
            fido_assert_allow_cred(pointer, credential.id, credential.id.count))
    }

    /// The length of the secret in bytes.
    private static let secretCount = 32

    /// Verifies the answer to a derivation.
    private func verify() throws(SecurityKeyError) {
        let flags = AnswerFlags(rawValue: fido_assert_flags(pointer, 0))
        guard flags.contains(.userPresent) else { throw .presenceNotTested }
        switch credential.verification {
        case .pin: guard flags.contains(.userVerified) else { throw .pinNotTested }
        // The device derives another secret if it has verified the user.
        case .touch: guard !flags.contains(.userVerified) else { throw .userVerified }
        }
        guard flags.contains(.extensions) else { throw .hmacSecretUnsupported }
        try verifySignature()
    }

    /// Verifies that the key of the credential has signed the answer to this request.
    private func verifySignature() throws(SecurityKeyError) {
        guard fido_assert_count(pointer) == 1 else { throw .invalidAnswer("expected one signature") }
        guard let publicKey = PublicKey(credential.publicKey) else { throw .outOfMemory }
        let status = fido_assert_verify(pointer, 0, COSE_ES256, UnsafeRawPointer(publicKey.pointer))
        guard status == FIDO_OK else { throw SecurityKeyError(verification: status) }
    }
}

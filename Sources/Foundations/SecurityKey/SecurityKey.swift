// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// A FIDO2 security key that is connected to this machine.
///
/// A key that supports the extension `hmac-secret` derives a secret of 32 bytes from a credential
/// and a salt, after the user has touched it: ``enroll(verification:pin:timeout:cancellation:)``
/// creates the credential, ``deriveSecret(from:pin:timeout:cancellation:)`` returns the secret.
///
/// Every operation opens the device, blocks the calling thread until the device has answered or the
/// timeout ends, and closes it. Call them on a thread of your own, never in a task.
public struct SecurityKey: Sendable {
    /// The path of the device, such as `/dev/hidraw0`; empty for a transport of the caller's own.
    public let path: String
    /// The manufacturer's name, as the device reports it: untrusted text.
    public let manufacturer: String
    /// The product's name, as the device reports it: untrusted text.
    public let product: String

    let transport: any SecurityKeyTransport

    /// A security key behind a transport of the caller's own.
    public init(transport: any SecurityKeyTransport, manufacturer: String = "", product: String = "") {
        self.init(path: "", manufacturer: manufacturer, product: product, transport: transport)
    }

    init(path: String, manufacturer: String, product: String, transport: any SecurityKeyTransport) {
        self.path = path
        self.manufacturer = manufacturer
        self.product = product
        self.transport = transport
    }

    /// The relying party of all credentials: the WebAuthn name that separates them on a key from the credentials of web
    /// sites. It is a part of every stored credential and never changes.
    public static let relyingParty = "latchkey"

    /// How long a device may take for an answer that needs no user.
    @TaskLocal @_spi(Testing) public static var answerTimeout: Duration = .seconds(5)

    // MARK: Operations

    /// Returns the device's description of itself. Needs no touch.
    public func describe(
        cancellation: SecurityKeyCancellation? = nil
    ) throws(SecurityKeyError) -> SecurityKeyDescription {
        let device = try OpenDevice(self, cancellation: cancellation)
        return try SecurityKeyDescription(of: device)
    }

    /// Creates a credential on the device. The user confirms it by a touch. The device stores nothing: the credential
    /// is needed to derive its secret.
    ///
    /// For ``UserVerification/pin``, the device is then asked to prove without the PIN that it has
    /// the credential. The credential records whether it does.
    ///
    /// - Parameters:
    ///   - verification: the requirement of every derivation. A secret that is derived with the PIN differs from the
    ///     secret that is derived without it.
    ///   - pin: the PIN of the device; required for ``UserVerification/pin``, and by devices that
    ///     create no credential without it.
    ///   - timeout: how long the user has for the touch; at most an hour.
    public func enroll(
        verification: UserVerification, pin: SecurityKeyPIN? = nil, timeout: Duration = .seconds(30),
        cancellation: SecurityKeyCancellation? = nil
    ) throws(SecurityKeyError) -> SecurityKeyCredential {
        guard verification == .touch || pin != nil else { throw .pinRequired }
        let device = try OpenDevice(self, cancellation: cancellation)
        guard try SecurityKeyDescription(of: device, countsRetries: false).supportsHMACSecret else {
            throw .hmacSecretUnsupported
        }
        let credential = try Enrollment(verification: verification).run(on: device, pin: pin, timeout: timeout)
        guard verification == .pin else { return credential }
        do {
            try Derivation(credential).probe(device)
            return credential
        } catch .pinRequired {
            return credential.withoutProof()
        }
    }

    /// Derives the secret of the credential. The user confirms it by a touch.
    ///
    /// The answer is verified: its signature by the credential's public key, its relying party, and
    /// that the device has tested the presence of the user and, if the credential requires it, the
    /// PIN. The PIN is sent after the device has proven that it has the credential, so that another
    /// device neither receives it nor counts it as a wrong one. Only a device that proved nothing at
    /// its enrollment (``SecurityKeyCredential/provesWithoutPIN``) is not asked to: any other device
    /// in its place obtains the PIN.
    ///
    /// - Parameters:
    ///   - pin: the PIN of the device, if the credential requires it; otherwise it is not sent.
    ///   - timeout: how long the user has for the touch; at most an hour.
    /// - Returns: 32 bytes, the same for the same credential and salt.
    /// - Throws: ``SecurityKeyError/otherDevice`` if another device has created the credential;
    ///   ``SecurityKeyError/proofRefused`` if the device does not prove without the PIN that it has
    ///   the credential, although the enrolled device does.
    public func deriveSecret(
        from credential: SecurityKeyCredential, pin: SecurityKeyPIN? = nil, timeout: Duration = .seconds(30),
        cancellation: SecurityKeyCancellation? = nil
    ) throws(SecurityKeyError) -> SecretBytes {
        let usedPIN = credential.verification == .pin ? pin : nil
        guard credential.verification == .touch || usedPIN != nil else { throw .pinRequired }
        let device = try OpenDevice(self, cancellation: cancellation)
        if usedPIN != nil, credential.provesWithoutPIN { try Self.requireProof(of: credential, by: device) }
        return try Derivation(credential).run(on: device, pin: usedPIN, timeout: timeout)
    }

    /// Whether this device has created the credential, proven by a signature. Needs no touch and no PIN, so that it
    /// selects one of several connected devices.
    ///
    /// - Throws: ``SecurityKeyError/wrongSignature`` if the device only claims it;
    ///   ``SecurityKeyError/proofRefused`` if the device answers nothing without the PIN, although
    ///   the enrolled device does; ``SecurityKeyError/pinRequired`` if both answer nothing.
    public func hasCredential(
        _ credential: SecurityKeyCredential, cancellation: SecurityKeyCancellation? = nil
    ) throws(SecurityKeyError) -> Bool {
        let device = try OpenDevice(self, cancellation: cancellation)
        do {
            try Self.requireProof(of: credential, by: device)
            return true
        } catch .otherDevice {
            return false
        }
    }

    private static func requireProof(
        of credential: SecurityKeyCredential, by device: OpenDevice
    ) throws(SecurityKeyError) {
        do {
            try Derivation(credential).probe(device)
        } catch .pinRequired where credential.provesWithoutPIN {
            throw .proofRefused
        }
    }
}

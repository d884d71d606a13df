// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import OpenSSLCrypto
internal import SecretMemory

/// The result of a passcode: the key P that scrypt derives from it, and the tangle T that the hardware releases for P;
/// 32 bytes each. Without hardware, T is 32 zero bytes.
package final class PasscodeKey: Sendable {
    let secret: SecretBytes
    let tangle: SecretBytes
    /// T as the hardware has sealed it; nil without hardware.
    let sealedTangle: PINSecret?

    private init(_ secret: consuming SecretBytes, tangle: consuming SecretBytes, sealed: PINSecret?) {
        self.secret = secret
        self.tangle = tangle
        sealedTangle = sealed
    }

    private convenience init(_ secret: consuming SecretBytes) {
        self.init(secret, tangle: SecretBytes(count: Self.length) { _ in }, sealed: nil)
    }

    /// A random key, so that nothing it wraps can ever be opened. For a dry run.
    package static var none: PasscodeKey { PasscodeKey(.random(count: length)) }

    /// Derives P, with a T of zeros. scrypt takes time and memory by design.
    ///
    /// - Throws: ``KeybagError/noMemory(_:)``, or ``KeybagError/damaged(_:)`` for a cost that is
    ///   not accepted.
    package static func derive(_ passcode: Passcode, _ parameters: PasscodeParameters) throws(KeybagError)
        -> PasscodeKey
    {
        try parameters.cost.validate()
        let cost = parameters.cost
        do {
            return PasscodeKey(
                try SecretBytes(count: length) { (output) throws(OpenSSLError) in
                    try passcode.bytes.withUnsafeBytes { (bytes) throws(OpenSSLError) in
                        try Scrypt.derive(
                            bytes, salt: parameters.salt, costExponent: cost.exponent, blockSize: cost.blockSize,
                            parallelism: cost.parallelism, into: output)
                    }
                })
        } catch {
            throw .noMemory(
                "deriving a key from the passcode takes \((Int(cost.blockSize) * 128 << Int(cost.exponent)) / 1_048_576) MiB: \(error.message)"
            )
        }
    }

    // MARK: The tangle

    /// The same P with the T that the hardware releases for it. A wrong P is counted there.
    ///
    /// - Throws: ``KeybagError/wrongPasscode``, ``KeybagError/passcodeLimitReached``,
    ///   ``KeybagError/hardware(_:)``.
    func opening(_ sealed: PINSecret?, of keychain: [UInt8], _ deviceKey: DeviceKey) throws(KeybagError) -> PasscodeKey
    {
        guard let sealed else { return withoutTangle }
        let tangle = try deviceKey.requireHardware().unseal(sealed, pin: pin(keychain))
        guard tangle.count == Self.length else {
            throw .damaged("the tangle has \(tangle.count) bytes, expected \(Self.length)")
        }
        return PasscodeKey(secret.copy(), tangle: tangle.copy(), sealed: sealed)
    }

    /// The same P with a new T: sealed by the hardware of the device key if that is its root, else
    /// of zeros.
    package func renewingTangle(of keychain: [UInt8], _ deviceKey: DeviceKey) throws(KeybagError) -> PasscodeKey {
        guard deviceKey.root == .tpm else { return withoutTangle }
        let hardware = try deviceKey.requireHardware()
        let tangle = SharedSecret(.random(count: Self.length))
        do throws(KeychainError) {
            let sealed = try hardware.seal(tangle, pin: pin(keychain), limit: AttemptRecord.wipeCount)
            return PasscodeKey(secret.copy(), tangle: tangle.copy(), sealed: sealed)
        } catch {
            throw .hardware(error)
        }
    }

    /// Has the hardware forget T, for a key that is not used.
    package func abandonTangle(_ deviceKey: DeviceKey) {
        guard let sealedTangle else { return }
        try? deviceKey.hardware?.remove(sealedTangle.index)
    }

    private var withoutTangle: PasscodeKey { PasscodeKey(secret.copy()) }

    /// It reveals nothing of P to the hardware.
    private func pin(_ keychain: [UInt8]) -> SharedSecret {
        SharedSecret(KeybagCryptography.derive(from: secret, label: "latchkey v4 passcode PIN", context: keychain))
    }

    private static let length = 32
}

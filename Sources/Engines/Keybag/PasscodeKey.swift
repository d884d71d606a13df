// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto
internal import SecretMemory

/// The passcode key P, which scrypt derives from a passcode: 32 bytes.
package final class PasscodeKey: Sendable {
    let secret: SecretBytes

    private init(_ secret: consuming SecretBytes) {
        self.secret = secret
    }

    /// A random key, so that nothing it wraps can ever be opened. For a dry run.
    package static var none: PasscodeKey { PasscodeKey(.random(count: 32)) }

    /// Derives the key. scrypt takes time and memory by design.
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
                try SecretBytes(count: 32) { (output) throws(OpenSSLError) in
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
}

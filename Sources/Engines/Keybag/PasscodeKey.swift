// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto
internal import SecretMemory

/// P, what scrypt makes of a passcode: 32 bytes.
package final class PasscodeKey: Sendable {
    let secret: SecretBytes

    private init(_ secret: consuming SecretBytes) {
        self.secret = secret
    }

    /// The key of no passcode: random, so that nothing it wraps is ever opened. For a rehearsal.
    package static var none: PasscodeKey { PasscodeKey(.random(count: 32)) }

    /// Takes time and memory, by design.
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
                "\((Int(cost.blockSize) * 128 << Int(cost.exponent)) / 1_048_576) MiB, which judging a passcode takes, could not be had: \(error.message)"
            )
        }
    }
}

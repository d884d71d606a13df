// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
public import OpenSSLCrypto
public import SecretMemory
public import SystemBus

/// How the secrets of a session are encrypted on the bus.
///
/// Nothing authenticates the two sides: the key exchange hides secrets from programs that only
/// monitor the bus.
public enum SessionCipher: Sendable {
    /// Not at all: every program of the user can read the bus.
    case plain
    /// AES-128-CBC with PKCS #7, under a key of 16 bytes from Diffie-Hellman in the group of 1024
    /// bits and HKDF-SHA256.
    case aes(SharedSecret)

    public static let plainName = "plain"
    public static let diffieHellmanName = "dh-ietf1024-sha256-aes128-cbc-pkcs7"

    /// Begins a session, as a service.
    ///
    /// - Parameters:
    ///   - algorithm: the name that the client has chosen.
    ///   - input: the client's public key, or an empty text.
    /// - Returns: the cipher, and the output for the client: the service's public key, or an empty text.
    /// - Throws: `NotSupported` for an unknown algorithm, so that clients choose `plain`.
    public static func negotiate(
        _ algorithm: String, _ input: BusValue
    ) throws(BusFailure) -> (SessionCipher, BusValue) {
        switch algorithm {
        case plainName:
            guard case .string = input else { throw .invalidArguments("the input of 'plain' is an empty text") }
            return (.plain, .string(""))
        case diffieHellmanName:
            guard let peer = input.byteArray else { throw .invalidArguments("the input is a public key") }
            // EXPOSE: this is a public key.
            return try exchangeKeys(peer.withUnsafeBytes { Array($0) })
        default: throw .notSupported("The algorithm '\(algorithm.prefix(64))' is not supported")
        }
    }

    private static func exchangeKeys(_ peer: [UInt8]) throws(BusFailure) -> (SessionCipher, BusValue) {
        do throws(OpenSSLError) {
            let exchange = try ModularDiffieHellman(generatingIn: .bits1024)
            return (.aes(try Self.key(exchange, with: peer)), .bytes(exchange.publicKey))
        } catch {
            throw .invalidArguments("The public key is not valid: \(error.message)")
        }
    }

    /// Returns the key of both sides.
    public static func key(
        _ exchange: ModularDiffieHellman, with peer: [UInt8]
    ) throws(OpenSSLError) -> SharedSecret {
        let shared = try exchange.sharedSecret(with: peer)
        return SharedSecret(
            SecretBytes(count: keyByteCount) { output in
                shared.withUnsafeBytes { KeyDerivation.hkdf($0, info: [], into: output) }
            })
    }

    // MARK: Secrets

    /// Encrypts a secret for the bus.
    public func encrypt(
        _ secret: SharedSecret
    ) throws(BusFailure) -> (parameters: SharedSecret, value: SharedSecret) {
        switch self {
        case .plain: return (SharedSecret(copying: [UInt8]()), secret)
        case .aes(let key):
            let vector = SharedSecret(copying: RandomBytes.array(count: Self.vectorByteCount))
            guard let value = Self.transform(.encrypt, secret, key: key, vector: vector) else {
                throw .failed("the secret cannot be encrypted")
            }
            return (vector, value)
        }
    }

    /// Returns the decrypted secret of the other side.
    ///
    /// - Throws: `InvalidArgs` for another length of the parameters or the ciphertext, or a wrong
    ///   padding.
    public func decrypt(_ secret: TransferredSecret) throws(BusFailure) -> SharedSecret {
        switch self {
        case .plain:
            guard secret.parameters.count == 0 else { throw Self.malformed }
            return secret.value
        case .aes(let key):
            guard secret.parameters.count == Self.vectorByteCount,
                let plain = Self.transform(.decrypt, secret.value, key: key, vector: secret.parameters)
            else { throw Self.malformed }
            return plain
        }
    }

    private static let malformed = BusFailure.invalidArguments(
        "The secret was transferred or encrypted in an invalid way")

    private static func transform(
        _ direction: BlockCipher.Direction, _ input: SharedSecret, key: SharedSecret, vector: SharedSecret
    ) -> SharedSecret? {
        // One block more than the input for its padding.
        let output = SecretBuffer(count: input.count + vectorByteCount)
        let count = output.withUnsafeMutableBytes { (output) -> Int? in
            do throws(CipherError) {
                return try transform(direction, input, key: key, vector: vector, into: output)
            } catch {
                return nil
            }
        }
        guard let count else { return nil }
        return output.withUnsafeMutableBytes { output in
            SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: output.prefix(count))))
        }
    }

    /// - Returns: the number of bytes that were written.
    private static func transform(
        _ direction: BlockCipher.Direction, _ input: SharedSecret, key: SharedSecret, vector: SharedSecret,
        into output: UnsafeMutableRawBufferPointer
    ) throws(CipherError) -> Int {
        let cipher = try key.withUnsafeBytes { (key) throws(CipherError) in
            try vector.withUnsafeBytes { (vector) throws(CipherError) in
                try BlockCipher(.aes128CBC, direction, isPadded: true, key: key, vector: vector)
            }
        }
        let written = try input.withUnsafeBytes { (input) throws(CipherError) in
            try cipher.update(with: input, into: output)
        }
        let rest = UnsafeMutableRawBufferPointer(rebasing: output.dropFirst(written))
        return written + (try cipher.finish(into: rest))
    }

    private static let keyByteCount = 16
    private static let vectorByteCount = 16
}

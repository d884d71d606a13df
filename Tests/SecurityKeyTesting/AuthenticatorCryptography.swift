// SPDX-License-Identifier: Apache-2.0

import OpenSSLCrypto
import SecretMemory

/// A key pair of P-256 of the software authenticator.
struct AuthenticatorKey {
    private let key: AsymmetricKey

    init() throws { key = try AsymmetricKey.generate(.p256) }

    /// X ‖ Y.
    func publicKey() throws -> [UInt8] { Array(try key.publicPoint(of: .p256).dropFirst()) }

    /// Signs the SHA-256 of the message; the signature is DER.
    func signature(of message: [UInt8]) throws -> [UInt8] {
        let digest = try sha256(message)
        return try digest.withUnsafeBytes { try key.signature(of: $0, hash: .sha256, padding: nil) }
    }

    /// Returns the x-coordinate that both keys agree on.
    func agreement(with publicKey: [UInt8]) throws -> [UInt8] {
        let point = [4] + publicKey
        let other = try point.withUnsafeBytes { try AsymmetricKey(.p256, point: $0) }
        return try key.keyAgreement(with: other).withUnsafeBytes { Array($0) }
    }

    /// The public key as COSE (RFC 9053), of this algorithm.
    func cose(algorithm: Int) throws -> CBOR {
        let point = try publicKey()
        return .map([
            1: .integer(2), 3: .integer(algorithm), -1: .integer(1), -2: .bytes(Array(point.prefix(32))),
            -3: .bytes(Array(point.suffix(32))),
        ])
    }
}

/// The keys that a platform and an authenticator share in a PIN/UV auth protocol (CTAP 2.1, 6.5.6 and 6.5.7).
struct PINProtocol {
    let number: Int
    private let authenticationKey: [UInt8]
    private let encryptionKey: [UInt8]

    /// - Parameter platform: the platform's public key as COSE.
    init?(number: Int, key: AuthenticatorKey, platform: CBOR?) throws {
        guard let x = platform?[-2]?.bytes, let y = platform?[-3]?.bytes else { return nil }
        let shared = try key.agreement(with: x + y)
        self.number = number
        if number == 1 {
            authenticationKey = try sha256(shared)
            encryptionKey = authenticationKey
        } else {
            authenticationKey = hkdf(shared, info: "CTAP2 HMAC key")
            encryptionKey = hkdf(shared, info: "CTAP2 AES key")
        }
    }

    func encrypted(_ bytes: [UInt8]) throws -> [UInt8] {
        guard number == 2 else { return try aes(.encrypt, bytes, vector: Array(repeating: 0, count: 16)) }
        let vector = SecretBytes.random(count: 16).withUnsafeBytes { Array($0) }
        return vector + (try aes(.encrypt, bytes, vector: vector))
    }

    func decrypted(_ bytes: [UInt8]) throws -> [UInt8] {
        guard number == 2 else { return try aes(.decrypt, bytes, vector: Array(repeating: 0, count: 16)) }
        return try aes(.decrypt, Array(bytes.dropFirst(16)), vector: Array(bytes.prefix(16)))
    }

    func isAuthentic(_ code: [UInt8]?, of message: [UInt8]) -> Bool {
        Self.code(of: message, key: authenticationKey, number: number) == code
    }

    /// The code that proves the knowledge of a key: 16 bytes in protocol 1, 32 in protocol 2.
    static func code(of message: [UInt8], key: [UInt8], number: Int) -> [UInt8] {
        let code = key.withUnsafeBytes { KeyDerivation.hmac(message, key: $0) }
        return number == 1 ? Array(code.prefix(16)) : code
    }

    private func aes(_ direction: BlockCipher.Direction, _ bytes: [UInt8], vector: [UInt8]) throws -> [UInt8] {
        guard let kind = CipherKind(.aes, mode: .cbc, keyByteCount: 32) else { return [] }
        let cipher = try encryptionKey.withUnsafeBytes { key in
            try vector.withUnsafeBytes { try BlockCipher(kind, direction, isPadded: false, key: key, vector: $0) }
        }
        var output = [UInt8](repeating: 0, count: bytes.count)
        _ = try bytes.withUnsafeBytes { input in
            try output.withUnsafeMutableBytes { try cipher.update(with: input, into: $0) }
        }
        return output
    }
}

func sha256(_ bytes: [UInt8]) throws -> [UInt8] {
    try bytes.withUnsafeBytes { try HashFunction.sha256.digest(of: $0) }
}

func hmac(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
    key.withUnsafeBytes { KeyDerivation.hmac(message, key: $0) }
}

private func hkdf(_ key: [UInt8], info: String) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: 32)
    key.withUnsafeBytes { key in
        output.withUnsafeMutableBytes { KeyDerivation.hkdf(key, info: Array(info.utf8), into: $0) }
    }
    return output
}

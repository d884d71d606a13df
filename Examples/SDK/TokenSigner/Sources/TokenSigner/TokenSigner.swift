// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// Signs tokens (RFC 7519) with a private key.
public struct TokenSigner {
    public let algorithm: TokenAlgorithm
    private let privateKey: SecKey

    /// Generates a key in memory.
    public init(generatingKeyFor algorithm: TokenAlgorithm) throws {
        let attributes: [String: Any] = [
            kSecAttrKeyType as String: algorithm.keyType,
            kSecAttrKeySizeInBits as String: algorithm.keySize,
        ]
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCreateRandomKey(attributes as CFDictionary, &error) else {
            throw TokenError.key(error?.takeRetainedValue())
        }
        self.algorithm = algorithm
        privateKey = key
    }

    /// Reads a key.
    ///
    /// - Parameter privateKey: PKCS #1 for RSA; the point and the scalar (ANSI X9.63) for P-256.
    public init(_ algorithm: TokenAlgorithm, privateKey: Data) throws {
        self.algorithm = algorithm
        self.privateKey = try algorithm.key(privateKey, kSecAttrKeyClassPrivate)
    }

    /// Returns the claims with a signature.
    public func token(for claims: [String: String]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let header = try encoder.encode(["alg": algorithm.rawValue, "typ": "JWT"])
        let content = Base64URL.text(header) + "." + Base64URL.text(try encoder.encode(claims))
        return content + "." + Base64URL.text(try signature(of: Data(content.utf8)))
    }

    /// Returns a signature in the form that tokens have.
    public func signature(of message: Data) throws -> Data {
        guard SecKeyIsAlgorithmSupported(privateKey, .sign, algorithm.signature) else { throw TokenError.unsupported }
        var error: Unmanaged<CFError>?
        guard let signature = SecKeyCreateSignature(privateKey, algorithm.signature, message as CFData, &error) else {
            throw TokenError.key(error?.takeRetainedValue())
        }
        return try algorithm.tokenForm(ofSignature: signature as Data)
    }

    /// Returns the public key: PKCS #1 for RSA, the point for P-256.
    public func publicKey() throws -> Data {
        guard let key = SecKeyCopyPublicKey(privateKey) else { throw TokenError.unsupported }
        return try representation(of: key)
    }

    /// Returns the private key, for a file or another program.
    public func exportedPrivateKey() throws -> Data {
        try representation(of: privateKey)
    }

    private func representation(of key: SecKey) throws -> Data {
        var error: Unmanaged<CFError>?
        guard let data = SecKeyCopyExternalRepresentation(key, &error) else {
            throw TokenError.key(error?.takeRetainedValue())
        }
        return data as Data
    }
}

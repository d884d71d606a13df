// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// Verifies tokens with a public key.
public struct TokenVerifier {
    public let algorithm: TokenAlgorithm
    private let publicKey: SecKey

    /// Reads a key.
    ///
    /// - Parameter publicKey: PKCS #1 for RSA, the point for P-256.
    public init(_ algorithm: TokenAlgorithm, publicKey: Data) throws {
        self.algorithm = algorithm
        self.publicKey = try algorithm.key(publicKey, kSecAttrKeyClassPublic)
    }

    /// Returns the claims of a token.
    ///
    /// - Throws: `TokenError.form` for other text, `TokenError.signature` for a wrong signature.
    public func claims(of token: String) throws -> [String: String] {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let header = Base64URL.data(parts[0]), let claims = Base64URL.data(parts[1]),
            let signature = Base64URL.data(parts[2])
        else { throw TokenError.form }
        let fields = try JSONDecoder().decode([String: String].self, from: header)
        guard fields["alg"] == algorithm.rawValue else { throw TokenError.form }
        guard try isValid(signature, of: Data((parts[0] + "." + parts[1]).utf8)) else { throw TokenError.signature }
        return try JSONDecoder().decode([String: String].self, from: claims)
    }

    /// Whether a signature, in the form that tokens have, is one of the key.
    public func isValid(_ signature: Data, of message: Data) throws -> Bool {
        let signature = try algorithm.keyForm(ofSignature: signature)
        return SecKeyVerifySignature(publicKey, algorithm.signature, message as CFData, signature as CFData, nil)
    }
}

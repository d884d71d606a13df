// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import TokenSigner

/// Signs and verifies a token with each algorithm, and refuses one that was changed.
func tokenSignerCheck() throws -> String {
    for algorithm in TokenAlgorithm.allCases {
        let subject = "TokenSigner: \(algorithm.rawValue)"
        let generated = try TokenSigner(generatingKeyFor: algorithm)
        let signer = try TokenSigner(algorithm, privateKey: try generated.exportedPrivateKey())
        try expect("\(subject): public key", try signer.publicKey(), try generated.publicKey())

        let verifier = try TokenVerifier(algorithm, publicKey: try generated.publicKey())
        let token = try signer.token(for: ["sub": "alice"])
        try expect("\(subject): claims", try verifier.claims(of: token), ["sub": "alice"])

        let other = try signer.token(for: ["sub": "bob"]).split(separator: ".")
        let changed = (other.prefix(2) + token.split(separator: ".").suffix(1)).joined(separator: ".")
        let error = try failure("\(subject): a changed token") { _ = try verifier.claims(of: changed) }
        guard case TokenError.signature = error else {
            throw WrongResult(description: "\(subject): expected TokenError.signature, found \(error)")
        }
    }
    try expect("TokenSigner: swift-crypto verifies", try isValidElsewhere(), true)
    return "TokenSigner: ES256 RS256 PS256, changed tokens refused, swift-crypto agrees"
}

/// Whether swift-crypto verifies a signature of a key of Security.
private func isValidElsewhere() throws -> Bool {
    let signer = try TokenSigner(generatingKeyFor: .es256)
    let message = Data("message".utf8)
    let signature = try P256.Signing.ECDSASignature(rawRepresentation: try signer.signature(of: message))
    return try P256.Signing.PublicKey(x963Representation: try signer.publicKey()).isValidSignature(
        signature, for: message)
}

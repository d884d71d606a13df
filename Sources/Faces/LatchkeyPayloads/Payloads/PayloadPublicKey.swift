// SPDX-License-Identifier: Apache-2.0

internal import Crypto
public import FoundationEssentials
internal import KeyServices
public import KeychainModel
public import Latchkey
internal import OpenSSLCrypto

/// A public key, to seal payloads to a recipient or to recognize their sender.
public struct PayloadPublicKey: Hashable, Sendable {
    /// The algorithms.
    public let suite: PayloadSuite
    /// The point `04 ‖ X ‖ Y` for P-256, 32 bytes for X25519, 1216 bytes for X-Wing.
    public let rawRepresentation: Data

    /// Creates a key from its bytes.
    ///
    /// - Parameters:
    ///   - suite: the algorithms of the key.
    ///   - rawRepresentation: as in ``rawRepresentation``.
    /// - Throws: `errSecParam` for other bytes, and for a key of small order, because everyone agrees with it on the
    ///   same secret.
    public init(_ suite: PayloadSuite, rawRepresentation: some DataProtocol) throws(KeychainError) {
        let bytes = Data(rawRepresentation)
        guard bytes.count == suite.publicKeyLength, Self.isValid(Array(bytes), suite) else {
            throw .parameter("the \(bytes.count) bytes are not a public key of \(suite)")
        }
        self.init(validated: bytes, suite)
    }

    /// A key of P-256, such as the public half of a `P256AgreementKey`.
    public init(_ key: AgreementPublicKey<P256Curve>) {
        self.init(validated: key.x963, .p256)
    }

    private init(validated bytes: Data, _ suite: PayloadSuite) {
        (self.suite, rawRepresentation) = (suite, bytes)
    }

    private static func isValid(_ bytes: [UInt8], _ suite: PayloadSuite) -> Bool {
        switch suite {
        case .p256: (try? AgreementPublicKey<P256Curve>(x963: bytes)) != nil
        // An agreement with any key fails for a key of small order.
        case .x25519: (try? PayloadPrivateKey.x25519Agreement(.random(count: X25519.byteCount), with: bytes)) != nil
        case .xWing: (try? XWingMLKEM768X25519.PublicKey(rawRepresentation: bytes)) != nil
        }
    }

    var bytes: [UInt8] { Array(rawRepresentation) }
}

// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Latchkey

/// The client's half: a key that never leaves the TPM, found again by its representation in a file.
public struct SignInClient: Sendable {
    private let key: SecureEnclave.P256.Signing.PrivateKey

    /// Creates a key, and writes its representation (no secret).
    public init(creating file: URL) throws {
        key = try SecureEnclave.P256.Signing.PrivateKey()
        try key.dataRepresentation.write(to: file, options: .withoutOverwriting)
    }

    public init(opening file: URL) throws {
        key = try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: Data(contentsOf: file))
    }

    /// `04 ‖ X ‖ Y`.
    public var publicKey: Data { key.publicKey.x963Representation }

    /// The signature that answers a challenge, in DER.
    public func answer(_ challenge: Data, user: String) throws -> Data {
        try sign(SignInMessage(user: user, challenge: challenge).bytes)
    }

    func sign(_ message: Data) throws -> Data { try key.signature(for: message).derRepresentation }
}

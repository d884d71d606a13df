// SPDX-License-Identifier: Apache-2.0

/// The request of a verifier to the TPM: to open a credential, and to certify a key with a nonce. Format:
/// Documentation/Formats/attestation.md.
public struct AttestationRequest: Hashable, Sendable {
    /// 32 bytes.
    public let nonce: [UInt8]
    /// ``AttestationIdentity/attestationObject``.
    public let attestationObject: [UInt8]
    /// The code and the encrypted secret.
    public let credential: [UInt8]
    /// The seed, encrypted for the endorsement key.
    public let seed: [UInt8]

    static let magic: [UInt8] = Array("LKAC".utf8) + [1]
    static let nonceLength = 32

    public init(nonce: [UInt8], attestationObject: [UInt8], credential: [UInt8], seed: [UInt8]) {
        (self.nonce, self.attestationObject) = (nonce, attestationObject)
        (self.credential, self.seed) = (credential, seed)
    }

    public var encoded: [UInt8] {
        var writer = MessageWriter(Self.magic)
        for field in [nonce, attestationObject, credential, seed] { writer.put(field: field) }
        return writer.bytes
    }

    /// - Throws: ``AttestationError/malformed(_:)``.
    public init(decoding bytes: [UInt8]) throws(AttestationError) {
        var reader = MessageReader(bytes, "challenge of an attestation")
        guard try reader.bytes(Self.magic.count) == Self.magic else {
            throw .malformed("it is not the challenge of an attestation")
        }
        nonce = try reader.field("nonce", counts: Self.nonceLength...Self.nonceLength)
        attestationObject = try reader.field("attestation key", counts: 1...AttestationIdentity.maxObject)
        credential = try reader.field("credential", counts: 1...256)
        seed = try reader.field("seed", counts: 1...512)
        try reader.requireEnd()
    }
}

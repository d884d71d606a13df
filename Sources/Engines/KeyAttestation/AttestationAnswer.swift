// SPDX-License-Identifier: Apache-2.0

/// The answer of a TPM about a key. Format: Documentation/Formats/attestation.md.
public struct AttestationAnswer: Hashable, Sendable {
    /// The public area of the key (`TPMT_PUBLIC`).
    public let key: [UInt8]
    /// `TPMS_ATTEST`.
    public let statement: [UInt8]
    /// r and s of the statement's SHA-256, 32 bytes each.
    public let signature: [UInt8]
    /// The secret of the credential.
    public let secret: [UInt8]

    static let magic: [UInt8] = Array("LKAA".utf8) + [1]
    static let secretLength = 32

    public init(key: [UInt8], statement: [UInt8], signature: [UInt8], secret: [UInt8]) {
        (self.key, self.statement, self.signature, self.secret) = (key, statement, signature, secret)
    }

    public var encoded: [UInt8] {
        var writer = MessageWriter(Self.magic)
        for field in [key, statement, signature, secret] { writer.put(field: field) }
        return writer.bytes
    }

    /// - Throws: ``AttestationError/malformed(_:)``.
    public init(decoding bytes: [UInt8]) throws(AttestationError) {
        var reader = MessageReader(bytes, "attestation")
        guard try reader.bytes(Self.magic.count) == Self.magic else { throw .malformed("it is not an attestation") }
        key = try reader.field("public area", counts: 1...AttestationIdentity.maxArea)
        statement = try reader.field("statement", counts: 1...1024)
        signature = try reader.field("signature", counts: 64...64)
        secret = try reader.field("secret", counts: Self.secretLength...Self.secretLength)
        try reader.requireEnd()
    }
}

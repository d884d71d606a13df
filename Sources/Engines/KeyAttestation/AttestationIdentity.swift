// SPDX-License-Identifier: Apache-2.0

/// The identity of a TPM before an attestation: certificates of its endorsement key, and an attestation key. Format:
/// Documentation/Formats/attestation.md.
public struct AttestationIdentity: Hashable, Sendable {
    /// X.509 in DER, the endorsement key's first; empty if the TPM has none.
    public let certificates: [[UInt8]]
    /// The attestation key as its TPM stores it; only that TPM understands it.
    public let attestationObject: [UInt8]
    /// The public area of the attestation key (`TPMT_PUBLIC`).
    public let attestationKey: [UInt8]

    static let magic: [UInt8] = Array("LKAI".utf8) + [1]
    static let maxCertificates = 8
    static let maxCertificate = 8192
    static let maxObject = 2048
    static let maxArea = 512

    public init(certificates: [[UInt8]], attestationObject: [UInt8], attestationKey: [UInt8]) {
        self.certificates = certificates
        self.attestationObject = attestationObject
        self.attestationKey = attestationKey
    }

    public var encoded: [UInt8] {
        var writer = MessageWriter(Self.magic)
        writer.put(UInt8(clamping: certificates.count))
        for certificate in certificates { writer.put(field: certificate) }
        writer.put(field: attestationObject)
        writer.put(field: attestationKey)
        return writer.bytes
    }

    /// - Throws: ``AttestationError/malformed(_:)``.
    public init(decoding bytes: [UInt8]) throws(AttestationError) {
        var reader = MessageReader(bytes, "identity of a TPM")
        guard try reader.bytes(Self.magic.count) == Self.magic else {
            throw .malformed("it is not the identity of a TPM")
        }
        let count: UInt8 = try reader.number()
        guard count <= Self.maxCertificates else { throw .malformed("it has \(count) certificates") }
        var certificates: [[UInt8]] = []
        for _ in 0..<count {
            certificates.append(try reader.field("certificate", counts: 1...Self.maxCertificate))
        }
        self.certificates = certificates
        attestationObject = try reader.field("attestation key", counts: 1...Self.maxObject)
        attestationKey = try reader.field("public area", counts: 1...Self.maxArea)
        try reader.requireEnd()
    }
}

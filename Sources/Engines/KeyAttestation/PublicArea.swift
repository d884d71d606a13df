// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto

/// The public area of a key on P-256 in a TPM: `TPMT_PUBLIC` (TCG TPM 2.0 Library, part 2, section
/// 12.2.4).
struct PublicArea: Hashable {
    let attributes: Attributes
    /// `04 ‖ X ‖ Y`.
    let point: [UInt8]
    /// The digest of the area, after its algorithm. It identifies the key to the TPM.
    let name: [UInt8]

    /// `TPMA_OBJECT`.
    struct Attributes: OptionSet, Hashable {
        let rawValue: UInt32

        static let fixedTPM = Self(rawValue: 1 << 1)
        static let fixedParent = Self(rawValue: 1 << 4)
        static let sensitiveDataOrigin = Self(rawValue: 1 << 5)
        static let restricted = Self(rawValue: 1 << 16)
        static let decrypt = Self(rawValue: 1 << 17)
        static let sign = Self(rawValue: 1 << 18)
        /// The TPM made the key, and it never leaves it.
        static let stays: Self = [.fixedTPM, .fixedParent, .sensitiveDataOrigin]
    }

    /// - Throws: ``AttestationError/malformed(_:)``, also for keys of other types.
    init(decoding bytes: [UInt8]) throws(AttestationError) {
        var reader = MessageReader(bytes, "public area")
        try reader.require(UInt16(0x0023), "type")  // TPM_ALG_ECC
        try reader.require(UInt16(0x000B), "hash")  // TPM_ALG_SHA256
        attributes = Attributes(rawValue: try reader.number())
        guard try reader.field("policy", counts: 0...32).isEmpty else {
            throw .wrongProperties("it has a policy")
        }
        try reader.require(UInt16(0x0010), "symmetric algorithm")  // TPM_ALG_NULL
        let scheme: UInt16 = try reader.number()
        if scheme != 0x0010 {
            guard scheme == 0x0018 else { throw .malformed("the scheme of the public area is \(scheme)") }  // ECDSA
            try reader.require(UInt16(0x000B), "hash of the scheme")
        }
        try reader.require(UInt16(0x0003), "curve")  // TPM_ECC_NIST_P256
        try reader.require(UInt16(0x0010), "key derivation")
        let x = try reader.field("x-coordinate", counts: 1...32)
        let y = try reader.field("y-coordinate", counts: 1...32)
        try reader.requireEnd()
        point = [4] + Self.padded(x) + Self.padded(y)
        name = [0x00, 0x0B] + (try Digest.sha256(bytes))
    }

    private static func padded(_ number: [UInt8]) -> [UInt8] {
        [UInt8](repeating: 0, count: max(0, 32 - number.count)) + number
    }
}

/// SHA-256 of libcrypto, with our errors.
enum Digest {
    static func sha256(_ bytes: [UInt8]) throws(AttestationError) -> [UInt8] {
        do {
            return try bytes.withUnsafeBytes { try HashFunction.sha256.digest(of: $0) }
        } catch {
            throw .failed("SHA-256 failed: \(error)")
        }
    }
}

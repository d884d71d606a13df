// SPDX-License-Identifier: Apache-2.0

/// The statement of a TPM that a key is in it: `TPMS_ATTEST` of the type `TPM_ST_ATTEST_CERTIFY` (TCG TPM
/// 2.0 Library, part 2, section 10.12).
struct CertifiedKey: Hashable {
    let nonce: [UInt8]
    /// The name of the key.
    let name: [UInt8]
    /// How often the TPM was reset, and restarted: an old statement shows lower numbers.
    let resetCount: UInt32
    let restartCount: UInt32
    let firmware: UInt64

    /// - Throws: ``AttestationError/malformed(_:)``, also for other statements, and for bytes that only look like one.
    init(decoding bytes: [UInt8]) throws(AttestationError) {
        var reader = MessageReader(bytes, "statement")
        // TPM_GENERATED_VALUE: a restricted key signs no other bytes that begin so.
        try reader.require(UInt32(0xFF54_4347), "magic")
        try reader.require(UInt16(0x8017), "type")
        _ = try reader.field("signer", counts: 0...66)
        nonce = try reader.field("nonce", counts: 0...64)
        _ = try reader.number() as UInt64  // The clock.
        resetCount = try reader.number()
        restartCount = try reader.number()
        _ = try reader.number() as UInt8  // Whether the clock is safe.
        firmware = try reader.number()
        name = try reader.field("name", counts: 34...34)
        _ = try reader.field("qualified name", counts: 0...66)
        try reader.requireEnd()
    }
}

// SPDX-License-Identifier: Apache-2.0

/// A constraint record with its encoding, and the two digests for the additional data of the row's halves.
public final class EncodedConstraint: Sendable {
    public let record: ConstraintRecord
    /// The bytes of the column.
    public let encoded: [UInt8]
    /// SHA-256 of ``encoded``, for the metadata half.
    public let digest: [UInt8]
    /// SHA-256 of the record's fixed part, for the secret half: shares can be sealed to other pairs
    /// without opening that half.
    public let fixedDigest: [UInt8]

    public convenience init(_ record: ConstraintRecord) { self.init(record, record.encoded) }

    /// - Throws: ``KeybagError/damaged(_:)``.
    public convenience init(decoding encoded: [UInt8]) throws(KeybagError) {
        self.init(try ConstraintRecord(decoding: encoded), encoded)
    }

    private init(_ record: ConstraintRecord, _ encoded: [UInt8]) {
        (self.record, self.encoded) = (record, encoded)
        digest = KeybagCryptography.digest(of: encoded)
        fixedDigest = KeybagCryptography.digest(of: record.fixedPart)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Keybag

/// The constraint of a row, with its encoding, which the row's additional data contains as digests.
struct RowConstraint {
    let record: ConstraintRecord
    /// The bytes of the column.
    let encoded: [UInt8]

    init(_ record: ConstraintRecord) { (self.record, encoded) = (record, record.encoded) }

    /// - Throws: ``KeybagError/damaged(_:)``.
    init(decoding encoded: [UInt8]) throws(KeybagError) {
        record = try ConstraintRecord(decoding: encoded)
        self.encoded = encoded
    }

    /// The digest in the additional data of a half: of all of it in the metadata half; of its fixed
    /// part in the secret half, so that shares can be sealed to other pairs without opening that half.
    func digest(for half: RowHalf) -> [UInt8] {
        switch half {
        case .metadata: RowCryptography.strongDigest(encoded)
        case .secret: RowCryptography.strongDigest(record.fixedPart)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The searchable values of an item: a record, or the fields of an open half.
protocol CanonicalValues {
    var itemClass: ItemClass { get }

    /// Appends the canonical bytes of a value (``AttributeValue/canonicalBytes``).
    ///
    /// - Returns: false if the attribute is unset.
    func appendCanonicalBytes(of attribute: ItemAttribute, to bytes: inout [UInt8]) -> Bool
}

extension ItemRecord: CanonicalValues {
    func appendCanonicalBytes(of attribute: ItemAttribute, to bytes: inout [UInt8]) -> Bool {
        guard let value = self[attribute] else { return false }
        bytes += value.canonicalBytes
        return true
    }
}

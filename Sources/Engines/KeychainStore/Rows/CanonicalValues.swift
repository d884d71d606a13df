// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The values of an item by which it is searched: a record, or the fields of a half that is open.
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

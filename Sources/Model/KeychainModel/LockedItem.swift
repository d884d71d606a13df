// SPDX-License-Identifier: Apache-2.0

/// An item that matches a search by lookup attributes, but belongs to a closed protection class. Its names are not
/// known.
public struct LockedItem: Hashable, Sendable {
    public let reference: PersistentReference
    public let accessGroup: AccessGroup

    public init(_ reference: PersistentReference, _ accessGroup: AccessGroup) {
        (self.reference, self.accessGroup) = (reference, accessGroup)
    }
}

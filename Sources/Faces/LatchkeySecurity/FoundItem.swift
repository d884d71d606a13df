// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// An item that a call found or stored. An identity is returned like an item, but keeps its halves, because its
/// reference consists of them.
enum FoundItem {
    /// An item of any class except identities.
    case item(ItemRecord)
    case identity(IdentityRecord)

    var record: ItemRecord {
        switch self {
        case .item(let record): record
        case .identity(let identity): identity.item
        }
    }
}

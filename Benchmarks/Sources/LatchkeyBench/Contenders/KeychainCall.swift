// SPDX-License-Identifier: Apache-2.0

/// The calls that are measured on both sides.
enum KeychainCall: String, Codable, CaseIterable {
    /// Find the data of the item with this account and service.
    case exactLookup
    /// Find the data of the first item with this account.
    case lookupByAccount
    /// Find the attributes of the item with this account and service.
    case attributes
    /// Find the data and attributes of all items of a service.
    case allOfService
    /// Add one item, durable when the call returns.
    case add
    /// Replace the data of one item, durable when the call returns.
    case update
    /// Delete one item, durable when the call returns.
    case delete

    /// The row's name in the report.
    var title: String {
        switch self {
        case .exactLookup: "lookup by account + service"
        case .lookupByAccount: "lookup by account"
        case .attributes: "attributes of one item"
        case .allOfService: "all items of a service of 100"
        case .add: "add"
        case .update: "update"
        case .delete: "delete"
        }
    }
}

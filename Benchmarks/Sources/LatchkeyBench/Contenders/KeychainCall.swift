// SPDX-License-Identifier: Apache-2.0

/// What is measured, on both sides.
enum KeychainCall: String, Codable, CaseIterable {
    /// The data of the item with this account and service.
    case exactLookup
    /// The data of the first item with this account.
    case lookupByAccount
    /// The attributes of the item with this account and service.
    case attributes
    /// Data and attributes of all items of a service.
    case allOfService
    /// One new item, durable when the call returns.
    case add
    /// New data for one item, durable when the call returns.
    case update
    /// One item gone, durable when the call returns.
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

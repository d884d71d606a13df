// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// Where the items of a collection go.
///
/// All go to the group of the default collection, and the report names the collections that they were in.
enum CollectionPlacement {
    static func accessGroup(of collection: SourceCollection) -> String { AccessGroup.shared.name }
}

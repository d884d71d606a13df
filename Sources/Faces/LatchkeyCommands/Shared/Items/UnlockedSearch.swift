// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService

/// Searches among the items that are not locked.
enum UnlockedSearch {
    /// Returns the matches. If some items are locked, searches class by class.
    ///
    /// - Parameter hasLockedItems: becomes true if there were locked items.
    static func matches(
        _ query: ItemQuery, _ returning: ReturnTypes, in keychain: KeychainSession,
        _ hasLockedItems: inout Bool
    ) throws(KeychainError) -> ItemMatches {
        do {
            return try PasswordSearch.matches(query, returning: returning, in: keychain)
        } catch {
            guard error.status == .interactionNotAllowed else { throw error }
        }
        hasLockedItems = true
        var all = ItemMatches(records: [], damaged: 0)
        for protection in ProtectionClass.allCases {
            var some = query
            some.attributes[.accessible] = .string(protection.rawValue)
            do {
                let matches = try PasswordSearch.matches(some, returning: returning, in: keychain)
                all.records += matches.records
                all.damaged += matches.damaged
            } catch {
                guard error.status == .interactionNotAllowed else { throw error }
            }
        }
        return all
    }
}

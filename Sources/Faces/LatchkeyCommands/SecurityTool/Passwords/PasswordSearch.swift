// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyOperations
internal import LatchkeyService

/// Searches for passwords, for the find, delete and partition-list commands.
enum PasswordSearch {
    /// macOS's name for the call.
    static let function = "SecKeychainSearchCopyNext"

    /// Returns the query for the options, among local and synchronized items.
    static func query(_ itemClass: ItemClass, _ arguments: ParsedArguments) throws(CommandFailure) -> ItemQuery {
        ItemQuery(
            itemClass, attributes: try arguments.attributes(), accessGroup: arguments.accessGroup, synchronizable: .any,
            limit: .one)
    }

    /// Returns the first item that has all of the given attributes.
    ///
    /// - Throws: errSecItemNotFound, with a hint if a damaged item matched and was skipped.
    static func find(
        _ query: ItemQuery, returning: ReturnTypes, in keychain: KeychainSession, for person: PersonPrompt? = nil
    ) throws(CommandFailure) -> ItemRecord {
        let matches = try matchesOfFirstGroup(query, returning: returning, in: keychain, for: person)
        guard let record = matches.records.first else {
            let hint = matches.damaged > 0 ? "a damaged item was skipped; 'latchkey doctor' shows the damage" : nil
            throw .status(KeychainError(.itemNotFound, hint: hint), of: function)
        }
        return record
    }

    /// Returns the matches in the group that the add commands use; if there are none, those of other
    /// programs. If a group is named, returns only its matches. An empty result is not an error.
    static func matchesOfFirstGroup(
        _ query: ItemQuery, returning: ReturnTypes, in keychain: KeychainSession, for person: PersonPrompt?
    ) throws(CommandFailure) -> ItemMatches {
        try CommandFailure.mapErrors(function) { () throws(KeychainError) in
            var groupQuery = query
            groupQuery.accessGroup = query.accessGroup ?? AccessGroup.shared.name
            let matchesInGroup = try Self.matches(groupQuery, returning: returning, in: keychain, for: person)
            // A damaged item of this group is not replaced by one of another program.
            let isMissing = matchesInGroup.isEmpty
            guard isMissing, query.accessGroup == nil else { return matchesInGroup }
            return try Self.matches(query, returning: returning, in: keychain, for: person)
        }
    }

    /// Returns the item with the primary key in `key`: the local one, otherwise the synchronized one; nil if there is
    /// none.
    static func existing(
        _ key: ItemQuery, returning: ReturnTypes, in keychain: KeychainSession, for person: PersonPrompt? = nil
    ) throws(KeychainError) -> ItemRecord? {
        for scope in [SynchronizableScope.local, .synchronized] {
            var query = key
            query.synchronizable = scope
            let found = try matches(
                query, returning: returning.union(.persistentReference), in: keychain, for: person)
            if let record = found.records.first { return record }
        }
        return nil
    }

    /// Returns all matches within the query's limit. An empty result is not an error.
    ///
    /// - Parameter person: how the person is asked; nil to ask as the query says.
    static func matches(
        _ query: ItemQuery, returning: ReturnTypes, in keychain: KeychainSession, for person: PersonPrompt? = nil
    ) throws(KeychainError) -> ItemMatches {
        guard let person else { return try keychain.copyMatching(query, returning: returning) }
        return try person.perform { (authentication) throws(KeychainError) in
            var query = query
            query.authentication = authentication
            return try keychain.copyMatching(query, returning: returning)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService

/// What the find, delete and partition-list commands have in common: the first password that has all of the given attributes.
enum PasswordSearch {
    /// macOS's name for the call.
    static let function = "SecKeychainSearchCopyNext"

    /// The query for what the options name, among local and synchronised items.
    static func query(_ itemClass: ItemClass, _ arguments: ParsedArguments) throws(CommandFailure) -> ItemQuery {
        ItemQuery(
            itemClass, attributes: try arguments.attributes(), accessGroup: arguments.accessGroup, synchronizable: .any,
            limit: .one)
    }

    /// The first match.
    ///
    /// - Throws: errSecItemNotFound, with a hint where the match is a damaged item, which is passed over.
    static func find(
        _ query: ItemQuery, returning: ReturnTypes, in keychain: any KeychainService, for session: CommandSession
    ) throws(CommandFailure) -> ItemRecord {
        let matches = try CommandFailure.mapErrors(function) { () throws(KeychainError) in
            // Where no group is named, an item of the group that the command adds to comes before every other program's.
            var home = query
            home.accessGroup = query.accessGroup ?? AccessGroup.shared.name
            let own = try Self.matches(home, returning: returning, in: keychain, for: session.caller)
            guard own.records.isEmpty, query.accessGroup == nil else { return own }
            return try Self.matches(query, returning: returning, in: keychain, for: session.caller)
        }
        guard let record = matches.records.first else {
            let hint = matches.damaged > 0 ? "a damaged item was passed over; 'latchkey doctor' tells which" : nil
            throw .status(KeychainError(.itemNotFound, hint: hint), of: function)
        }
        return record
    }

    /// All matches, within the query's limit; none is no failure.
    static func matches(
        _ query: ItemQuery, returning: ReturnTypes, in keychain: any KeychainService, for caller: CallerIdentity
    ) throws(KeychainError) -> ItemMatches {
        do {
            return try keychain.copyMatching(query, returning: returning, from: caller)
        } catch {
            guard error.status == .itemNotFound else { throw error }
            return ItemMatches(records: [], damaged: 0)
        }
    }
}

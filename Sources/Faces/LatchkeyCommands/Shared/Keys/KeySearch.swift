// SPDX-License-Identifier: Apache-2.0

internal import KeychainSessions
internal import KeyServices
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import SecretMemory

/// Searches for keys in the keychain.
enum KeySearch {
    /// Returns the keys with these attributes, in the order of their addition.
    static func all(
        _ attributes: [ItemAttribute: AttributeValue], group: String?, in keychain: KeychainSession,
        for person: PersonPrompt
    ) throws(CommandFailure) -> [ItemRecord] {
        try CommandFailure.mapErrors(PasswordSearch.function) { () throws(KeychainError) in
            try PasswordSearch.matches(
                query(attributes, group), returning: [.attributes, .persistentReference], in: keychain, for: person
            ).records
        }
    }

    /// Returns the keys with these attributes for a list. A key is left out if its access control protects its
    /// attributes, with a note on standard error.
    static func listed(
        _ attributes: [ItemAttribute: AttributeValue], group: String?, in keychain: KeychainSession,
        _ session: CommandSession
    ) throws(CommandFailure) -> [ItemRecord] {
        var search = UnlockedSearch()
        let found = try CommandFailure.mapErrors(PasswordSearch.function) { () throws(KeychainError) in
            try search.silentMatches(
                query(attributes, group), [.attributes, .persistentReference], in: keychain)
        }
        for note in search.notes { session.warn(note.text, hint: note.hint) }
        return found.records
    }

    private static func query(_ attributes: [ItemAttribute: AttributeValue], _ group: String?) -> ItemQuery {
        ItemQuery(.key, attributes: attributes, accessGroup: group, synchronizable: .any, limit: .all)
    }

    /// Returns the keys with this tag; if there are none, those with this label, and then those
    /// with this application label.
    static func named(
        _ name: String, group: String?, in keychain: KeychainSession, for person: PersonPrompt
    ) throws(CommandFailure) -> [ItemRecord] {
        let criteria: [[ItemAttribute: AttributeValue]] = [
            [.applicationTag: .data(Array(name.utf8))], [.applicationTag: .string(name)], [.label: .string(name)],
            [.applicationLabel: .data(KeyCriteria.applicationLabel(name))],
        ]
        for attributes in criteria {
            let found = try all(attributes, group: group, in: keychain, for: person)
            if !found.isEmpty { return found }
        }
        return []
    }

    /// Returns the one key of this class with the tag or label.
    ///
    /// - Throws: errSecItemNotFound if there is none, errSecParam if there are several.
    static func one(
        _ name: String, half: KeyHalf?, group: String?, in keychain: KeychainSession, for person: PersonPrompt
    ) throws(CommandFailure) -> ItemRecord {
        let found = try named(name, group: group, in: keychain, for: person)
        let matching = found.filter { half == nil || $0[.keyClass] == half.map { .number($0.rawValue) } }
        guard let first = matching.first else {
            throw .status(
                KeychainError(
                    .itemNotFound, "there is no \(half.map(word) ?? "")key with the tag or label '\(name)'",
                    hint: "latchkey key list"))
        }
        guard matching.count == 1 else {
            throw .parameter(
                "\(matching.count) keys have the tag or label '\(name)'",
                hint: "name one by its application label: latchkey key list --json"
            )
        }
        return first
    }

    static func word(_ half: KeyHalf) -> String { half == .privateKey ? "private " : "public " }

    /// Returns the private key of a record. Its uses ask the person if necessary. The key itself stays in the keychain.
    static func privateKey(
        _ record: ItemRecord, in keychain: KeychainSession, for person: PersonPrompt
    ) throws(CommandFailure) -> StoredKey {
        StoredKey(
            record.persistentReference, publicKey: try publicKey(record, in: keychain),
            authentication: { () throws(KeychainError) in try person.values() },
            in: { () throws(KeychainError) in keychain })
    }

    /// Returns the public key of a record's pair.
    static func publicKey(
        _ record: ItemRecord, in keychain: KeychainSession
    ) throws(CommandFailure) -> PublicKey {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try PublicKey.of(keychain.publicKey(of: record.persistentReference))
        }
    }
}

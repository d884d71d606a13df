// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyService

/// `latchkey collection`.
struct CollectionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.collection.rawValue, abstract: LatchkeySubcommand.collection.abstract,
        discussion: """
            Desktop programs store passwords in collections, by the Secret Service. Those of the collection login are \
            also the ones of the security command; every other collection is an access group of its own.

            EXAMPLES:
              latchkey collection list
              latchkey collection create Work
              secret-tool store --collection=Work --label=Mail service mail.example.com
            """,
        subcommands: [CollectionList.self, CollectionCreate.self, CollectionRename.self, CollectionDelete.self])
}

extension CommandSession {
    /// Returns the collections of the keychain.
    func collections() throws(CommandFailure) -> KeychainCollections { KeychainCollections(try keychain()) }
}

extension CollectionName {
    /// - Throws: errSecParam for a text that is no name.
    init(argument text: String) throws(CommandFailure) {
        guard let name = CollectionName(text) else {
            throw .parameter(
                "the name of a collection has 1 to \(CollectionName.maxLength) bytes", hint: "latchkey collection list")
        }
        self = name
    }
}

/// A collection, in the shape of the commands' JSON.
struct CollectionReport: Encodable {
    var name: String
    var label: String
    var accessGroup: String
    /// The number of passwords.
    var items: Int
    /// UTC, as `2026-11-22T12:00:00Z`; absent for `login`, because it was never created.
    var created: String?
    /// Whether it gets the items of programs that name no collection.
    var isDefault: Bool

    init(_ collection: KeychainCollection, items: Int, isDefault: Bool) {
        name = collection.name.text
        label = collection.label
        accessGroup = collection.name.accessGroup.name
        self.items = items
        created = collection.created.map { Date(timeIntervalSinceReferenceDate: $0).formatted(.iso8601) }
        self.isDefault = isDefault
    }
}

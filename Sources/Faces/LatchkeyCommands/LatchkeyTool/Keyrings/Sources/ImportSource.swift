// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyService
internal import SecretMemory

/// A keyring of another program. It is only read.
protocol ImportSource {
    /// The name of the source, for the report.
    var name: String { get }

    /// Reads everything but the secrets.
    ///
    /// - Throws: if the source as a whole cannot be read. The result has the problems of single collections and items.
    func contents(_ progress: ProgressLine) throws(CommandFailure) -> SourceContents

    /// Reads the secrets of items, in their order.
    ///
    /// - Throws: if nothing more can be read.
    func secrets(of items: [SourceItem]) throws(CommandFailure) -> [Result<SourceSecret, Omission>]
}

/// The collections of a source, and their items without secrets.
struct SourceContents {
    var collections: [SourceCollection] = []
    var items: [SourceItem] = []
    /// The items that cannot be read, with the number of their collection and a name for messages.
    var omitted: [(collection: Int, name: String, omission: Omission)] = []
}

struct SourceCollection: Equatable {
    let label: String
    /// Why its items are not read; nil if they are.
    var omission: Omission?
}

/// An item as its source describes it, with valid attributes.
struct SourceItem {
    /// The number of the item in its source.
    let number: Int
    /// The number of its collection in ``SourceContents``.
    let collection: Int
    let label: String
    /// Those of the source; with the generic schema, if they have none.
    let attributes: LookupAttributes
    /// In seconds since 1970; 0 if it is unknown.
    let created: UInt64

    /// - Throws: errSecDataTooLarge for texts that are too long, errSecParam for attributes that are not valid.
    init(
        number: Int, collection: Int, label: String, attributes: [(name: String, value: String)], created: UInt64
    ) throws(KeychainError) {
        try KeychainCollection.checkLabel(label)
        // gnome-keyring shows an item without a schema as it is until its next start, and with this one then: both
        // are one item.
        var pairs = attributes
        if !pairs.contains(where: { $0.name == Self.schemaName }) {
            pairs.append((name: Self.schemaName, value: Self.genericSchema))
        }
        self.attributes = try LookupAttributes(pairs)
        (self.number, self.collection, self.label, self.created) = (number, collection, label, created)
    }

    /// The attribute with the name of an item's schema, as libsecret stores it.
    static let schemaName = "xdg:schema"
    private static let genericSchema = "org.freedesktop.Secret.Generic"
}

struct SourceSecret: Equatable {
    let bytes: SharedSecret
    let contentType: ContentType?
}

/// Why something is left out of an import.
struct Omission: Error, Equatable {
    let reason: String
    /// The status of the import if nothing else fails; nil if the omission is no failure.
    let status: OSStatusCode?

    init(_ reason: String, _ status: OSStatusCode?) { (self.reason, self.status) = (reason, status) }

    init(_ error: KeychainError) { self.init(error.problem, error.status) }
}

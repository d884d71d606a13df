// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyCommands
internal import SecretMemory

/// A keyring of another program. It is only read.
protocol ImportSource {
    /// What is read, for the report.
    var name: String { get }

    /// Reads everything but the secrets.
    ///
    /// - Throws: if the source as a whole cannot be read. What is wrong with one collection or item is in
    ///   the result.
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
    let attributes: LookupAttributes
    /// In seconds since 1970; 0 if it is unknown.
    let created: UInt64
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

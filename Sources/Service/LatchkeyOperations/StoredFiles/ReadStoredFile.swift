// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Returns a part of a file in the keychain's directory.
package struct ReadStoredFile: KeychainOperation {
    package let query: ItemQuery
    package let offset: UInt64
    package let count: Int
    /// The version of an earlier part; nil for the present one.
    package let version: [UInt8]?

    package init(_ query: ItemQuery, at offset: UInt64, count: Int, version: [UInt8]?) {
        (self.query, self.offset, self.count, self.version) = (query, offset, count, version)
    }

    package static let traits: OperationTraits = [.accessesItems, .readsSecrets]

    package var audit: AuditDetails? { AuditDetails("read-stored-file", query) }

    package var reach: OperationReach { .searchList }

    package func run(in context: some OperationContext) throws(KeychainError) -> StoredFilePart {
        try context.holdSearchPermit(for: query, readsSecrets: true)
        return try context.service.files.read(
            try context.accessible(query), at: offset, count: count, version: version, from: context.caller)
    }
}

extension OperationContext {
    /// Returns a query for the one item that a query finds, after the check that its secrets may be read.
    fileprivate func accessible(_ query: ItemQuery) throws(KeychainError) -> ItemQuery {
        guard try mayNeedPasscode else { return query }
        let found = try service.items.copyMatching(query, returning: [.attributes, .persistentReference], from: caller)
        guard !found.isEmpty else { throw .itemNotFound }
        guard let record = found.records.first else { return query }
        try requireAccess(toSecretsIn: [record.accessGroup])
        return ItemQuery(
            nil, accessGroup: record.accessGroup.name, synchronizable: .any,
            persistentReference: record.persistentReference, authentication: query.authentication)
    }
}

extension StoredFilePart: ResponseContent {
    package var auditedCount: Int { 1 }
}

extension OperationPerformer {
    /// Returns a part of a stored file.
    ///
    /// - Parameters:
    ///   - query: selects the item.
    ///   - offset: in the content, in bytes.
    ///   - count: at most ``StoredFilePart/maxLength``.
    ///   - version: that of an earlier part; nil for the present one.
    /// - Throws: errSecItemNotFound; errSecInteractionNotAllowed while the class is closed; errSecParam
    ///   for an item that is not a file; errSecNotAvailable if the content is not that of `version`
    ///   any more; errSecDecode if the file is missing or was changed.
    package func readStoredFile(
        _ query: ItemQuery, at offset: UInt64, count: Int, version: [UInt8]?
    ) throws(KeychainError) -> StoredFilePart {
        try perform(ReadStoredFile(query, at: offset, count: count, version: version))
    }
}

// MARK: Coding

extension ReadStoredFile {
    init(_ wire: WireReadStoredFile) throws(WireError) {
        try requireKnown(wire)
        query = try wire.query.decode()
        offset = wire.offset
        count = Int(wire.count)
        version = wire.hasVersion ? Array(wire.version) : nil
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireReadStoredFile()
        wire.query = WireQuery(query)
        wire.offset = offset
        wire.count = UInt32(clamping: count)
        if let version { wire.version = Data(version) }
        return .readStoredFile(wire)
    }
}

extension StoredFilePart {
    init(_ wire: WireStoredFilePart, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        self.init(try secrets.take(wire.content), length: wire.length, version: Array(wire.version))
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        var wire = WireStoredFilePart()
        wire.content = secrets.append(content)
        wire.length = length
        wire.version = Data(version)
        return .storedFilePart(wire)
    }
}

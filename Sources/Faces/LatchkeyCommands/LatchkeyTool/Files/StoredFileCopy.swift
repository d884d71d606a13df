// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyOperations
internal import LatchkeyService
internal import SecretMemory

/// Reads a file that the keychain stores, in order.
struct StoredFileCopy {
    private let keychain: KeychainSession
    let record: ItemRecord
    /// That of the parts that were read.
    private var version: [UInt8]?

    /// - Throws: errSecItemNotFound; errSecParam if the name selects several items.
    init(named name: String, in session: CommandSession) throws(CommandFailure) {
        let target = try ItemOptions.target(ofFileNamed: name, group: nil)
        keychain = try session.keychain()
        record = try PasswordItems(session).one(ItemSelection(target))
    }

    private var query: ItemQuery {
        ItemQuery(.genericPassword, synchronizable: .any, persistentReference: record.persistentReference)
    }

    /// Calls `body` with each part, and with the length of the whole content.
    mutating func forEachPart(
        _ body: (SharedSecret, UInt64) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        var position: UInt64 = 0
        while true {
            let part = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
                try keychain.readStoredFile(query, at: position, count: StoredFilePart.maxLength, version: version)
            }
            guard part.content.count > 0 else { return }
            try body(part.content, part.length)
            position += UInt64(part.content.count)
            version = part.version
        }
    }

    /// Deletes the item, and the file with it, unless another content was stored since it was read.
    func delete() throws(CommandFailure) {
        _ = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try keychain.readStoredFile(query, at: 0, count: 0, version: version)
        }
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            guard try keychain.delete(query) > 0 else { throw .itemNotFound }
        }
    }
}

extension ItemOptions {
    /// Returns the target of a file in the keychain: a generic password.
    static func target(ofFileNamed name: String, group: String?) throws(CommandFailure) -> ItemTarget {
        let parsed = try ItemName(ofNewItem: name)
        var attributes = [ItemAttribute.service: CommandWord(bytes: parsed.service).attributeValue]
        if let account = parsed.account { attributes[.account] = CommandWord(bytes: account).attributeValue }
        return ItemTarget(itemClass: .genericPassword, attributes: attributes, accessGroup: group)
    }
}

// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
internal import SecretMemory

/// Stores a file in the keychain's directory. Its content arrives in parts (``SendFileContent``),
/// after the daemon has answered that it is ready.
package struct StoreFile: KeychainOperation {
    /// A generic password without data.
    package let item: ItemAddition
    package let replaces: Bool

    package init(_ item: ItemAddition, replaces: Bool) { (self.item, self.replaces) = (item, replaces) }

    package static let traits: OperationTraits = [.accessesItems, .changes]

    package var audit: AuditDetails? {
        AuditDetails("store-file", itemClass: item.itemClass, group: item.accessGroup)
    }

    package func run(in context: some OperationContext) throws(KeychainError) -> Done {
        guard let permit = context.acquire(.fileStore) else {
            throw KeychainError(
                .notAvailable, "too many files of this user are being stored", hint: "wait until one of them is stored")
        }
        defer { withExtendedLifetime(permit) {} }
        try context.service.files.store(
            item, replaces: replaces,
            from: { () throws(KeychainError) in
                guard context.send(Ready()) else {
                    throw KeychainError(.io, "the client disconnected before it sent the whole file")
                }
                return try context.nextFileContent()
            }, caller: context.caller)
        return Done()
    }
}

extension OperationPerformer {
    /// Stores a file in the keychain's directory. An item stands for it: it holds the key of the file, and
    /// the file is deleted with it. It is durable when this returns.
    ///
    /// - Parameters:
    ///   - item: a generic password, not synchronized, without data and access control.
    ///   - replaces: whether a file of the same name is replaced.
    ///   - source: called until it returns nil.
    /// - Throws: errSecDuplicateItem if an item of this name exists, and is not a file that is to be
    ///   replaced; errSecInteractionNotAllowed while the class is closed; errSecDiskFull beyond the
    ///   quota of the user; errSecNotAvailable for a keychain in memory.
    package func storeFile(
        _ item: ItemAddition, replaces: Bool, from source: @escaping StoredFileSource
    ) throws(KeychainError) {
        let exchange = Exchange(give: { () throws(KeychainError) in
            SendFileContent(try source() ?? SharedSecret(copying: []))
        })
        _ = try perform(StoreFile(item, replaces: replaces), exchange)
    }
}

// MARK: Coding

extension StoreFile {
    init(_ wire: WireStoreFile, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        item = try wire.item.decode(&secrets)
        replaces = wire.replaces
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireStoreFile()
        wire.item = WireAddition(item, &secrets)
        wire.replaces = replaces
        return .storeFile(wire)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
package import SecretMemory

/// Returns the key of a protected file.
package struct OpenFileKey: KeychainOperation {
    package let record: FileKeyRecord

    package init(_ record: FileKeyRecord) { self.record = record }

    package static let traits: OperationTraits = [.accessesItems, .readsSecrets]

    package var audit: AuditDetails? { AuditDetails("open-file-key", group: record.binding.group.name) }

    package var reach: OperationReach { .loginKeychain }

    package func run(in context: some OperationContext) throws(KeychainError) -> FileKey {
        try context.requireAccess(toSecretsIn: [record.binding.group])
        return FileKey(record, key: try context.service.fileKeys.open(record, from: context.caller))
    }
}

extension OperationPerformer {
    /// Returns the key of an existing file.
    ///
    /// - Throws: errSecInteractionNotAllowed while the class is closed; errSecMissingEntitlement if
    ///   the program does not have the access group of the file; errSecItemNotFound if the keychain
    ///   does not have the class key; errSecDecode if the record was changed.
    package func openFileKey(_ record: FileKeyRecord) throws(KeychainError) -> SharedSecret {
        guard let key = try perform(OpenFileKey(record)).key else { throw .unexpectedResponse }
        return key
    }
}

// MARK: Coding

extension OpenFileKey {
    init(_ wire: Data) throws(WireError) { record = try FileKeyRecord(wire: wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        .openFileKey(Data(record.encoded))
    }
}

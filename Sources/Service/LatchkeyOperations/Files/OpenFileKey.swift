// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Returns the key of a protected file.
package struct OpenFileKey: KeychainOperation {
    package let record: FileKeyRecord

    package init(_ record: FileKeyRecord) { self.record = record }

    package static let traits: OperationTraits = [.accessesItems, .readsSecrets]

    package var audit: AuditDetails? { AuditDetails("open-file-key", group: record.binding.group.name) }

    package func run(in context: some OperationContext) throws(KeychainError) -> FileKey {
        try context.requireAccess(toSecretsIn: [record.binding.group])
        return FileKey(record, key: try context.service.openFileKey(record, from: context.caller))
    }
}

// MARK: Coding

extension OpenFileKey {
    init(_ wire: Data) throws(WireError) { record = try FileKeyRecord(wire: wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        .openFileKey(Data(record.encoded))
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Returns a key of the keychain itself, if it is extractable.
package struct ExportKey: KeychainOperation {
    package let reference: PersistentReference

    package init(_ reference: PersistentReference) { self.reference = reference }

    package static let traits: OperationTraits = [.accessesItems, .readsSecrets]

    package var audit: AuditDetails? { AuditDetails("export-key", itemClass: .key) }

    package func run(in context: some OperationContext) throws(KeychainError) -> KeyOutput {
        try context.requireAccess(toUse: reference)
        return try context.service.exportKey(reference, from: context.caller)
    }
}

// MARK: Coding

extension ExportKey {
    init(_ wire: Data) throws(WireError) { reference = try PersistentReference(wire: wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        .exportKey(Data(reference.bytes))
    }
}

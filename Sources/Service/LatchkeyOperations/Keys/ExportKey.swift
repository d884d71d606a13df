// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Returns a key of the keychain itself, if it is extractable.
package struct ExportKey: KeychainOperation {
    package let reference: PersistentReference

    package let authentication: Authentication

    package init(_ reference: PersistentReference, authentication: Authentication = Authentication()) {
        self.reference = reference
        self.authentication = authentication
    }

    package static let traits: OperationTraits = [.accessesItems, .readsSecrets]

    package var audit: AuditDetails? { AuditDetails("export-key", itemClass: .key) }

    package func run(in context: some OperationContext) throws(KeychainError) -> KeyOutput {
        try context.requireAccess(toUse: reference, authentication)
        return try context.service.exportKey(reference, authentication: authentication, from: context.caller)
    }
}

// MARK: Coding

extension ExportKey {
    init(_ wire: WireExportKey) throws(WireError) {
        try requireKnown(wire)
        reference = try PersistentReference(wire: wire.reference)
        authentication = wire.hasAuthentication ? try wire.authentication.decode() : Authentication()
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireExportKey()
        wire.reference = Data(reference.bytes)
        if let authentication = WireAuthentication(authentication) { wire.authentication = authentication }
        return .exportKey(wire)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Returns a key of the keychain itself, if it is extractable.
package struct ExportKey: KeychainOperation {
    package let reference: PersistentReference

    private let ownAuthentication: Authentication

    package init(_ reference: PersistentReference, authentication: Authentication = Authentication()) {
        self.reference = reference
        ownAuthentication = authentication
    }

    package static let traits: OperationTraits = [.accessesItems, .readsSecrets]

    package var audit: AuditDetails? { AuditDetails("export-key", itemClass: .key) }

    package var reach: OperationReach { .searchList }

    package var authentication: Authentication? { ownAuthentication }

    package func authenticated(by authentication: Authentication) -> ExportKey {
        ExportKey(reference, authentication: authentication)
    }

    package func run(in context: some OperationContext) throws(KeychainError) -> KeyOutput {
        try context.requireAccess(toUse: reference, ownAuthentication)
        return try context.service.keys.export(reference, authentication: ownAuthentication, from: context.caller)
    }
}

extension OperationPerformer {
    /// Returns the external representation of a key.
    ///
    /// - Throws: errSecUnimplemented, as for keys on tokens, if the key is not extractable.
    package func exportKey(
        _ reference: PersistentReference, authentication: Authentication = Authentication()
    ) throws(KeychainError) -> KeyOutput {
        try perform(ExportKey(reference, authentication: authentication))
    }
}

// MARK: Coding

extension ExportKey {
    init(_ wire: WireExportKey) throws(WireError) {
        try requireKnown(wire)
        reference = try PersistentReference(wire: wire.reference)
        ownAuthentication = wire.hasAuthentication ? try wire.authentication.decode() : Authentication()
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireExportKey()
        wire.reference = Data(reference.bytes)
        if let authentication = WireAuthentication(ownAuthentication) { wire.authentication = authentication }
        return .exportKey(wire)
    }
}

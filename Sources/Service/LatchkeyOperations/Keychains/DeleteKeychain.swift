// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Deletes a keychain with everything in it.
package struct DeleteKeychain: KeychainOperation {
    package let name: KeychainName

    package init(_ name: KeychainName) { self.name = name }

    package static let traits: OperationTraits = [
        .changes, .administers, .accessesAllGroups, .worksWithoutKeychain,
    ]

    package var audit: AuditDetails? { AuditDetails("delete-keychain", keychain: name) }

    package func run(in context: some OperationContext) throws(KeychainError) -> Done {
        try context.registry.deleteKeychain(name)
        return Done()
    }
}

extension OperationPerformer {
    /// Deletes a keychain with everything in it. Throws as ``KeychainRegistry`` does.
    package func deleteKeychain(_ name: KeychainName) throws(KeychainError) { _ = try perform(DeleteKeychain(name)) }
}

// MARK: Coding

extension DeleteKeychain {
    init(_ wire: WireKeychainName) throws(WireError) {
        try requireKnown(wire)
        name = try KeychainName(wire: wire.name)
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireKeychainName()
        wire.name = name.text
        return .deleteKeychain(wire)
    }
}

// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Removes deleted and replaced data from the files.
package struct CheckpointKeychain: KeychainOperation {
    package init() {}

    package static let traits: OperationTraits = .administers

    package var audit: AuditDetails? { nil }

    package func run(in context: some OperationContext) throws(KeychainError) -> Done {
        try context.service.checkpoint()
        return Done()
    }
}

extension OperationPerformer {
    /// Removes deleted and replaced data from the files.
    package func checkpoint() throws(KeychainError) { _ = try perform(CheckpointKeychain()) }
}

// MARK: Coding

extension CheckpointKeychain {
    init(_ wire: WireNothing) throws(WireError) { try requireKnown(wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation { .checkpoint(WireNothing()) }
}

// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Records that a backup was completed, for `latchkey doctor`.
package struct RecordBackup: KeychainOperation {
    package init() {}

    package static let traits: OperationTraits = .administers

    package var audit: AuditDetails? { nil }

    package func run(in context: some OperationContext) throws(KeychainError) -> Done {
        try context.service.backups.recordDate()
        return Done()
    }
}

extension OperationPerformer {
    /// Records that a backup was completed, for `latchkey doctor`; the backup is complete even if this fails.
    package func recordBackup() { _ = try? perform(RecordBackup()) }
}

// MARK: Coding

extension RecordBackup {
    init(_ wire: WireNothing) throws(WireError) { try requireKnown(wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        .recordBackup(WireNothing())
    }
}

// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Repairs damaged rows. Answers with the number of rows that were, or would be, moved or deleted.
package struct RepairKeychain: KeychainOperation {
    package let action: RepairAction
    package let dryRun: Bool

    package init(_ action: RepairAction, dryRun: Bool) {
        self.action = action
        self.dryRun = dryRun
    }

    package static let traits: OperationTraits = [.changes, .administers, .accessesAllGroups]

    package var audit: AuditDetails? { AuditDetails(dryRun ? "repair-rehearsal" : "repair") }

    package func run(in context: some OperationContext) throws(KeychainError) -> ItemCount {
        let (service, progress) = (try context.service, context.progress)
        return try context.slow(.computation) { () throws(KeychainError) in
            ItemCount(try service.repair(action, dryRun: dryRun) { progress($0, 0) })
        }
    }
}

extension OperationPerformer {
    /// Repairs the damaged rows that ``check(progress:)`` reports.
    ///
    /// - Parameters:
    ///   - dryRun: only counts.
    ///   - progress: called with the number of rows checked.
    /// - Returns: how many rows were, or would be, moved or deleted.
    package func repair(
        _ action: RepairAction, dryRun: Bool, progress: @escaping @Sendable (Int) -> Void
    ) throws(KeychainError) -> Int {
        try perform(RepairKeychain(action, dryRun: dryRun), Exchange(progress: { done, _ in progress(done) })).count
    }
}

// MARK: Coding

extension RepairKeychain {
    init(_ wire: WireRepair) throws(WireError) {
        try requireKnown(wire)
        switch wire.action {
        case 1: action = .moveDamaged
        case 2: action = .emptyQuarantine
        default: throw .malformed("unknown repair \(wire.action)")
        }
        dryRun = wire.dryRun
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireRepair()
        wire.action =
            switch action {
            case .moveDamaged: 1
            case .emptyQuarantine: 2
            }
        wire.dryRun = dryRun
        return .repair(wire)
    }
}

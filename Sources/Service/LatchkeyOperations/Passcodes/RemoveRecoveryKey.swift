// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
package import SecretMemory

/// Removes the recovery key. Answers with 0 if there was no recovery key, otherwise with 1.
package struct RemoveRecoveryKey: KeychainOperation {
    /// nil for a keychain without a passcode.
    package let passcode: SharedSecret?

    package init(_ passcode: SharedSecret?) { self.passcode = passcode }

    package static let traits: OperationTraits = [.changes, .administers, .accessesAllGroups]

    package var audit: AuditDetails? {
        AuditDetails("remove-recovery-key", includesPasscode: passcode != nil)
    }

    package func run(in context: some OperationContext) throws(KeychainError) -> ItemCount {
        let service = try context.service
        return try context.slow(.derivation) { () throws(KeychainError) in
            ItemCount(try service.lock.removeRecoveryKey(passcode) ? 1 : 0)
        }
    }
}

extension OperationPerformer {
    /// Removes the recovery key.
    ///
    /// - Returns: false if there was no recovery key.
    package func removeRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> Bool {
        try perform(RemoveRecoveryKey(passcode)).count > 0
    }
}

// MARK: Coding

extension RemoveRecoveryKey {
    init(_ wire: WireAuthorized, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        passcode = wire.hasPasscode ? try secrets.take(wire.passcode) : nil
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireAuthorized()
        if let passcode { wire.passcode = secrets.append(passcode) }
        return .removeRecoveryKey(wire)
    }
}

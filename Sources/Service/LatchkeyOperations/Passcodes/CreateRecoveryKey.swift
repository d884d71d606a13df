// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
package import SecretMemory

/// Creates a recovery key. It replaces an earlier one.
package struct CreateRecoveryKey: KeychainOperation {
    /// nil for a keychain without a passcode.
    package let passcode: SharedSecret?

    package init(_ passcode: SharedSecret?) { self.passcode = passcode }

    package static let traits: OperationTraits = [.changes, .administers, .accessesAllGroups]

    package var audit: AuditDetails? {
        AuditDetails("create-recovery-key", includesPasscode: passcode != nil)
    }

    package func run(in context: some OperationContext) throws(KeychainError) -> RecoveryKeyText {
        let service = try context.service
        return try context.slow(.derivation) { () throws(KeychainError) in
            RecoveryKeyText(try service.lock.createRecoveryKey(passcode))
        }
    }

    package func kept(_ answer: RecoveryKeyText) throws(KeychainError) -> RecoveryKeyText {
        throw KeychainError(
            .io, "the recovery key was created, but its text was lost with the connection",
            hint: "replace it by a new one: latchkey recovery-key create")
    }
}

/// The text of a recovery key. It is not stored anywhere.
package struct RecoveryKeyText: ResponseContent {
    package let text: SharedSecret

    package init(_ text: SharedSecret) { self.text = text }
}

extension OperationPerformer {
    /// Creates a recovery key. It replaces an earlier one.
    ///
    /// - Returns: the text of the recovery key. It is not stored anywhere.
    package func createRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> SharedSecret {
        try perform(CreateRecoveryKey(passcode)).text
    }
}

// MARK: Coding

extension CreateRecoveryKey {
    init(_ wire: WireAuthorized, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        passcode = wire.hasPasscode ? try secrets.take(wire.passcode) : nil
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireAuthorized()
        if let passcode { wire.passcode = secrets.append(passcode) }
        return .createRecoveryKey(wire)
    }
}

extension RecoveryKeyText {
    init(_ wire: UInt32, _ secrets: inout SecretTable) throws(WireError) { text = try secrets.take(wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        .secret(secrets.append(text))
    }
}

// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
package import SecretMemory

/// Sets the first passcode.
package struct SetPasscode: KeychainOperation {
    package let passcode: SharedSecret

    package init(_ passcode: SharedSecret) { self.passcode = passcode }

    package static let traits: OperationTraits = [.changes, .administers, .accessesAllGroups]

    package var audit: AuditDetails? { AuditDetails("set-passcode", includesPasscode: true) }

    package func run(in context: some OperationContext) throws(KeychainError) -> Done {
        let (service, progress) = (try context.service, context.progress)
        return try context.slow(.derivation) { () throws(KeychainError) in
            try service.lock.setPasscode(passcode, progress: progress)
            return Done()
        }
    }
}

extension OperationPerformer {
    /// Sets the first passcode, and reseals every item that it protects with new keys. An existing
    /// recovery key becomes invalid.
    package func setPasscode(_ new: SharedSecret, progress: @escaping ChangeProgress) throws(KeychainError) {
        _ = try perform(SetPasscode(new), Exchange(progress: progress))
    }
}

// MARK: Coding

extension SetPasscode {
    init(_ wire: WireSetPasscode, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        passcode = try secrets.take(wire.passcode)
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireSetPasscode()
        wire.passcode = secrets.append(passcode)
        return .setPasscode(wire)
    }
}

// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
package import SecretMemory

/// Replaces the passcode.
package struct ChangePasscode: KeychainOperation {
    package let old: SharedSecret
    package let new: SharedSecret
    /// Also generates new keys and reseals every item with them.
    package let rotates: Bool

    package init(from old: SharedSecret, to new: SharedSecret, rotates: Bool) {
        self.old = old
        self.new = new
        self.rotates = rotates
    }

    package static let traits: OperationTraits = [.changes, .administers, .accessesAllGroups]

    package var audit: AuditDetails? { AuditDetails("change-passcode", includesPasscode: true) }

    package func run(in context: some OperationContext) throws(KeychainError) -> Done {
        let (service, progress) = (try context.service, context.progress)
        return try context.slow(.derivation) { () throws(KeychainError) in
            try service.lock.changePasscode(from: old, to: new, rotates: rotates, progress: progress)
            return Done()
        }
    }
}

extension OperationPerformer {
    /// Replaces the passcode.
    ///
    /// - Parameter rotates: also generates new keys and reseals every item with them; an existing
    ///   recovery key becomes invalid.
    /// - Throws: errSecAuthFailed for a wrong passcode, and for every one while a delay is running; then nothing is
    ///   changed. So do the other changes of the keychain's protection.
    package func changePasscode(
        from old: SharedSecret, to new: SharedSecret, rotates: Bool, progress: @escaping ChangeProgress
    ) throws(KeychainError) {
        _ = try perform(ChangePasscode(from: old, to: new, rotates: rotates), Exchange(progress: progress))
    }
}

// MARK: Coding

extension ChangePasscode {
    init(_ wire: WireChangePasscode, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        old = try secrets.take(wire.old)
        new = try secrets.take(wire.new)
        rotates = wire.rotates
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireChangePasscode()
        wire.old = secrets.append(old)
        wire.new = secrets.append(new)
        wire.rotates = rotates
        return .changePasscode(wire)
    }
}

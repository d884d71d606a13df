// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
package import SecretMemory

/// Unlocks the keychain with its passcode.
package struct UnlockKeychain: KeychainOperation {
    package let passcode: SharedSecret

    package init(_ passcode: SharedSecret) { self.passcode = passcode }

    package static let traits: OperationTraits = [.administers, .unlocks]

    package var audit: AuditDetails? { AuditDetails("unlock", includesPasscode: true) }

    package func run(in context: some OperationContext) throws(KeychainError) -> Done {
        let (service, progress) = (try context.service, context.progress)
        return try context.slow(.derivation) { () throws(KeychainError) in
            try service.lock.unlock(passcode, progress: progress)
            return Done()
        }
    }
}

extension OperationPerformer {
    /// Unlocks the keychain with the passcode; has no effect on a keychain without a passcode.
    ///
    /// - Throws: errSecAuthFailed for a wrong passcode, and for every one while a delay is running.
    package func unlock(_ passcode: SharedSecret, progress: @escaping ChangeProgress) throws(KeychainError) {
        _ = try perform(UnlockKeychain(passcode), Exchange(progress: progress))
    }
}

// MARK: Coding

extension UnlockKeychain {
    init(_ wire: WireUnlock, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        passcode = try secrets.take(wire.passcode)
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireUnlock()
        wire.passcode = secrets.append(passcode)
        return .unlock(wire)
    }
}

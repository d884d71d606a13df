// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Locks the keychain.
package struct LockKeychain: KeychainOperation {
    /// Skips the grace period of the settings.
    package let immediately: Bool

    package init(immediately: Bool) { self.immediately = immediately }

    package static let traits: OperationTraits = [.accessesAllGroups, .staysInSession, .worksWithoutLog, .locks]

    package var audit: AuditDetails? { AuditDetails("lock") }

    package func run(in context: some OperationContext) throws(KeychainError) -> Done {
        try context.service.lock.lock(immediately: immediately)
        return Done()
    }
}

extension OperationPerformer {
    /// Locks the keychain.
    ///
    /// - Parameter immediately: skips the grace period of the settings.
    /// - Throws: errSecParam if no passcode is set.
    package func lock(immediately: Bool) throws(KeychainError) {
        _ = try perform(LockKeychain(immediately: immediately))
    }
}

// MARK: Coding

extension LockKeychain {
    init(_ wire: WireLock) throws(WireError) {
        try requireKnown(wire)
        immediately = wire.immediately
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireLock()
        wire.immediately = immediately
        return .lock(wire)
    }
}

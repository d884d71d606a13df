// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
package import SecretMemory

/// Removes a security key. Answers with the number of items that were deleted with it.
package struct RemoveSecurityKey: KeychainOperation {
    package let key: SecurityKeyIdentifier
    /// nil for a keychain without a passcode, and for a dry run.
    package let passcode: SharedSecret?
    package let deletesItems: Bool
    package let dryRun: Bool

    package init(_ key: SecurityKeyIdentifier, passcode: SharedSecret?, deletesItems: Bool, dryRun: Bool) {
        self.key = key
        self.passcode = passcode
        self.deletesItems = deletesItems
        self.dryRun = dryRun
    }

    package static let traits: OperationTraits = [.changes, .administers, .accessesAllGroups]

    package var audit: AuditDetails? {
        AuditDetails(
            dryRun ? "remove-security-key-rehearsal" : "remove-security-key", includesPasscode: passcode != nil)
    }

    package func run(in context: some OperationContext) throws(KeychainError) -> ItemCount {
        let service = try context.service
        return try context.slow(.derivation) { () throws(KeychainError) in
            ItemCount(
                try service.securityKeys.remove(key, passcode: passcode, deletesItems: deletesItems, dryRun: dryRun))
        }
    }
}

extension OperationPerformer {
    /// Removes a security key. The device need not be connected.
    ///
    /// - Parameters:
    ///   - passcode: required if one is set.
    ///   - deletesItems: also deletes the items that only this key opens. If false, and there are
    ///     any, nothing changes.
    ///   - dryRun: only counts these items.
    /// - Returns: how many items were, or would be, deleted.
    /// - Throws: errSecParam if `deletesItems` is false and there are such items;
    ///   errSecItemNotFound if no such key is enrolled.
    package func removeSecurityKey(
        _ key: SecurityKeyIdentifier, passcode: SharedSecret?, deletesItems: Bool = false, dryRun: Bool = false
    ) throws(KeychainError) -> Int {
        try perform(RemoveSecurityKey(key, passcode: passcode, deletesItems: deletesItems, dryRun: dryRun)).count
    }
}

// MARK: Coding

extension RemoveSecurityKey {
    init(_ wire: WireRemoveSecurityKey, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        key = try SecurityKeyIdentifier(wire: wire.key)
        passcode = wire.hasPasscode ? try secrets.take(wire.passcode) : nil
        deletesItems = wire.deletesItems
        dryRun = wire.dryRun
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireRemoveSecurityKey()
        wire.key = Data(key.bytes)
        if let passcode { wire.passcode = secrets.append(passcode) }
        wire.deletesItems = deletesItems
        wire.dryRun = dryRun
        return .removeSecurityKey(wire)
    }
}

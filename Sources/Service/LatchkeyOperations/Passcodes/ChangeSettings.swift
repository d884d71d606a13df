// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
package import SecretMemory

/// Changes the settings of the lock.
package struct ChangeSettings: KeychainOperation {
    package let settings: KeybagSettings
    /// nil for a keychain without a passcode.
    package let passcode: SharedSecret?

    package init(_ settings: KeybagSettings, _ passcode: SharedSecret?) {
        self.settings = settings
        self.passcode = passcode
    }

    package static let traits: OperationTraits = [.changes, .administers, .accessesAllGroups]

    package var audit: AuditDetails? { AuditDetails("change-settings", includesPasscode: passcode != nil) }

    package func run(in context: some OperationContext) throws(KeychainError) -> Done {
        let service = try context.service
        return try context.slow(.derivation) { () throws(KeychainError) in
            try service.lock.changeSettings(to: settings, passcode)
            return Done()
        }
    }
}

extension OperationPerformer {
    package func changeSettings(to settings: KeybagSettings, _ passcode: SharedSecret?) throws(KeychainError) {
        _ = try perform(ChangeSettings(settings, passcode))
    }
}

// MARK: Coding

extension ChangeSettings {
    init(_ wire: WireChangeSettings, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        settings = try wire.settings.decode()
        passcode = wire.hasPasscode ? try secrets.take(wire.passcode) : nil
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireChangeSettings()
        wire.settings = WireSettings(settings)
        if let passcode { wire.passcode = secrets.append(passcode) }
        return .changeSettings(wire)
    }
}

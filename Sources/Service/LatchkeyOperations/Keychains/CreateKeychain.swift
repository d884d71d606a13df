// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
package import SecretMemory

/// Creates a keychain with a name, and unlocks it.
package struct CreateKeychain: KeychainOperation {
    package let name: KeychainName
    /// nil for a keychain that is always unlocked.
    package let passcode: SharedSecret?

    package init(_ name: KeychainName, passcode: SharedSecret?) { (self.name, self.passcode) = (name, passcode) }

    package static let traits: OperationTraits = [.changes, .administers, .worksWithoutKeychain]

    package var audit: AuditDetails? {
        AuditDetails("create-keychain", keychain: name, includesPasscode: passcode != nil)
    }

    package func run(in context: some OperationContext) throws(KeychainError) -> Done {
        let registry = try context.registry
        return try context.slow(.derivation) { () throws(KeychainError) in
            try registry.createKeychain(name, passcode: passcode)
            return Done()
        }
    }
}

extension OperationPerformer {
    /// Creates a keychain and appends it to the search list. Throws as ``KeychainRegistry`` does.
    package func createKeychain(_ name: KeychainName, passcode: SharedSecret?) throws(KeychainError) {
        _ = try perform(CreateKeychain(name, passcode: passcode))
    }
}

// MARK: Coding

extension CreateKeychain {
    init(_ wire: WireCreateKeychain, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        name = try KeychainName(wire: wire.name)
        passcode = wire.hasPasscode ? try secrets.take(wire.passcode) : nil
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireCreateKeychain()
        wire.name = name.text
        if let passcode { wire.passcode = secrets.append(passcode) }
        return .createKeychain(wire)
    }
}

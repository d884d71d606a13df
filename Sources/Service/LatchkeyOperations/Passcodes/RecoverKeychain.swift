// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
package import SecretMemory

/// Opens the keychain with its recovery key, even if it cannot be opened otherwise, and sets a new
/// passcode. Answers with the number of items that are lost.
package struct RecoverKeychain: KeychainOperation {
    package let key: SharedSecret
    /// nil only counts the items that would be lost.
    package let newPasscode: SharedSecret?

    package init(with key: SharedSecret, newPasscode: SharedSecret?) {
        self.key = key
        self.newPasscode = newPasscode
    }

    package static let traits: OperationTraits = [
        .changes, .administers, .accessesAllGroups, .worksWithoutKeychain, .worksWithoutLog,
    ]

    package var audit: AuditDetails? {
        AuditDetails(newPasscode == nil ? "recover-rehearsal" : "recover", includesPasscode: newPasscode != nil)
    }

    package func run(in context: some OperationContext) throws(KeychainError) -> ItemCount {
        let rescue = try context.rescue
        return try context.slow(.derivation) { () throws(KeychainError) in
            ItemCount(try rescue.recover(with: key, newPasscode: newPasscode))
        }
    }
}

extension OperationPerformer {
    /// Opens the keychain with its recovery key, and sets a new passcode.
    package func recover(with key: SharedSecret, newPasscode: SharedSecret?) throws(KeychainError) -> Int {
        try perform(RecoverKeychain(with: key, newPasscode: newPasscode)).count
    }
}

// MARK: Coding

extension RecoverKeychain {
    init(_ wire: WireRecover, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        key = try secrets.take(wire.key)
        newPasscode = wire.hasNewPasscode ? try secrets.take(wire.newPasscode) : nil
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireRecover()
        wire.key = secrets.append(key)
        if let newPasscode { wire.newPasscode = secrets.append(newPasscode) }
        return .recover(wire)
    }
}

// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
package import SecretMemory

/// Removes the passcode. Answers with the number of items that were destroyed with it.
package struct RemovePasscode: KeychainOperation {
    package let passcode: SharedSecret

    package init(_ passcode: SharedSecret) { self.passcode = passcode }

    package static let traits: OperationTraits = [.changes, .administers, .accessesAllGroups]

    package var audit: AuditDetails? { AuditDetails("remove-passcode", includesPasscode: true) }

    package func run(in context: some OperationContext) throws(KeychainError) -> ItemCount {
        let (service, progress) = (try context.service, context.progress)
        return try context.slow(.derivation) { () throws(KeychainError) in
            ItemCount(try service.lock.removePasscode(passcode, progress: progress))
        }
    }
}

extension OperationPerformer {
    /// Removes the passcode, and destroys every item of the class whenPasscodeSetThisDeviceOnly.
    ///
    /// - Returns: how many items were destroyed.
    package func removePasscode(
        _ passcode: SharedSecret, progress: @escaping ChangeProgress
    ) throws(KeychainError) -> Int {
        try perform(RemovePasscode(passcode), Exchange(progress: progress)).count
    }
}

// MARK: Coding

extension RemovePasscode {
    init(_ wire: WireRemovePasscode, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        passcode = try secrets.take(wire.passcode)
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireRemovePasscode()
        wire.passcode = secrets.append(passcode)
        return .removePasscode(wire)
    }
}

// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
package import SecretMemory

/// Moves the device key. Answers with 0 if it is there already, otherwise with 1.
package struct MoveRoot: KeychainOperation {
    package let target: RootTarget
    /// nil for a keychain without a passcode.
    package let passcode: SharedSecret?
    package let dryRun: Bool

    package init(to target: RootTarget, _ passcode: SharedSecret?, dryRun: Bool) {
        (self.target, self.passcode, self.dryRun) = (target, passcode, dryRun)
    }

    package static let traits: OperationTraits = [.changes, .administers, .accessesAllGroups]

    package var audit: AuditDetails? {
        AuditDetails(dryRun ? "move-root-rehearsal" : "move-root", includesPasscode: passcode != nil)
    }

    package func run(in context: some OperationContext) throws(KeychainError) -> ItemCount {
        let service = try context.service
        return try context.slow(.derivation) { () throws(KeychainError) in
            ItemCount(try service.root.move(to: target, passcode, dryRun: dryRun) ? 1 : 0)
        }
    }
}

extension OperationPerformer {
    /// Moves the device key to another root.
    ///
    /// - Parameter dryRun: only checks that it can be moved.
    /// - Returns: false if it is there already.
    /// - Throws: errSecNotAvailable if the root is not there; errSecParam for a keychain in memory.
    package func moveRoot(
        to target: RootTarget, _ passcode: SharedSecret?, dryRun: Bool
    ) throws(KeychainError) -> Bool {
        try perform(MoveRoot(to: target, passcode, dryRun: dryRun)).count > 0
    }
}

// MARK: Coding

extension MoveRoot {
    init(_ wire: WireMoveRoot, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        guard let root = KeychainStatus.Root(rawValue: wire.root) else {
            throw .malformed("unknown root '\(wire.root)'")
        }
        target = RootTarget(
            root, registers: try RegisterNumbers.decode(wire.registers),
            code: wire.hasCode ? try secrets.take(wire.code) : nil)
        passcode = wire.hasPasscode ? try secrets.take(wire.passcode) : nil
        dryRun = wire.dryRun
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireMoveRoot()
        wire.root = target.root.rawValue
        wire.registers = RegisterNumbers.encode(target.registers)
        if let code = target.code { wire.code = secrets.append(code) }
        if let passcode { wire.passcode = secrets.append(passcode) }
        wire.dryRun = dryRun
        return .moveRoot(wire)
    }
}

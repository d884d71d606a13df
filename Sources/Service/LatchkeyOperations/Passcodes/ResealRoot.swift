// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
package import SecretMemory

/// Seals the device key to the present values of the PCRs, after they have changed. The keychain does
/// not open before.
package struct ResealRoot: KeychainOperation {
    let code: SharedSecret

    package init(with code: SharedSecret) { self.code = code }

    package static let traits: OperationTraits = [
        .changes, .administers, .accessesAllGroups, .worksWithoutKeychain, .worksWithoutLog,
    ]

    package var audit: AuditDetails? { AuditDetails("reseal-root") }

    package func run(in context: some OperationContext) throws(KeychainError) -> Done {
        let rescue = try context.rescue
        return try context.slow(.derivation) { () throws(KeychainError) in
            try rescue.resealRoot(with: code)
            return Done()
        }
    }
}

extension OperationPerformer {
    /// Seals the device key to the present values of the PCRs.
    package func resealRoot(with code: SharedSecret) throws(KeychainError) { _ = try perform(ResealRoot(with: code)) }
}

// MARK: Coding

extension ResealRoot {
    init(_ wire: WireResealRoot, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        code = try secrets.take(wire.code)
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireResealRoot()
        wire.code = secrets.append(code)
        return .resealRoot(wire)
    }
}

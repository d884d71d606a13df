// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
package import SecretMemory

/// Sets or removes the application password of a context.
package struct SetApplicationPassword: KeychainOperation {
    /// nil to remove it.
    package let password: SharedSecret?
    package let context: AuthenticationContextID

    package init(_ password: SharedSecret?, in context: AuthenticationContextID) {
        self.password = password
        self.context = context
    }

    package static let traits: OperationTraits = [.accessesContexts, .worksWithoutLog]

    package var audit: AuditDetails? { nil }

    package var reach: OperationReach { .everyKeychain }

    package func rest(after answer: Done) -> SetApplicationPassword? { self }

    package func run(in context: some OperationContext) throws(KeychainError) -> Done {
        try context.service.contexts.setApplicationPassword(password, in: self.context, from: context.caller)
        return Done()
    }
}

extension OperationPerformer {
    /// Sets or removes the application password of a context (`LAContext.setCredential`).
    package func setApplicationPassword(
        _ password: SharedSecret?, in context: AuthenticationContextID
    ) throws(KeychainError) {
        _ = try perform(SetApplicationPassword(password, in: context))
    }
}

// MARK: Coding

extension SetApplicationPassword {
    init(_ wire: WireSetApplicationPassword, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        context = try AuthenticationContextID(wire: wire.context)
        password = wire.hasPassword ? try secrets.take(wire.password) : nil
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireSetApplicationPassword()
        wire.context = Data(context.bytes)
        if let password { wire.password = secrets.append(password) }
        return .setApplicationPassword(wire)
    }
}

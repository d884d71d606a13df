// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Returns whether a context of the caller's process has an application password. Answers with 1 if
/// it has one, otherwise with 0.
package struct HasApplicationPassword: KeychainOperation {
    package let context: AuthenticationContextID

    package init(in context: AuthenticationContextID) { self.context = context }

    package static let traits: OperationTraits = [.accessesContexts, .worksWithoutLog]

    package var audit: AuditDetails? { nil }

    package var reach: OperationReach { .everyKeychain }

    package func rest(after answer: ItemCount) -> HasApplicationPassword? { answer.count > 0 ? nil : self }

    package func run(in context: some OperationContext) throws(KeychainError) -> ItemCount {
        ItemCount(try context.service.contexts.hasApplicationPassword(in: self.context, from: context.caller) ? 1 : 0)
    }
}

extension OperationPerformer {
    /// Returns whether a context has an application password: that of the program, or one that the
    /// person typed. A wrong one is removed by the call that used it.
    package func hasApplicationPassword(in context: AuthenticationContextID) throws(KeychainError) -> Bool {
        try perform(HasApplicationPassword(in: context)).count > 0
    }
}

// MARK: Coding

extension HasApplicationPassword {
    init(_ wire: Data) throws(WireError) { context = try AuthenticationContextID(wire: wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        .hasApplicationPassword_p(Data(context.bytes))
    }
}

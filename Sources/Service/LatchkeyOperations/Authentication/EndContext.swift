// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Ends an authentication context of the caller's process.
package struct EndContext: KeychainOperation {
    package let context: AuthenticationContextID

    package init(_ context: AuthenticationContextID) { self.context = context }

    package static let traits: OperationTraits = [.accessesContexts, .worksWithoutLog]

    package var audit: AuditDetails? { nil }

    package var reach: OperationReach { .everyKeychain }

    package func rest(after answer: Done) -> EndContext? { self }

    package func run(in context: some OperationContext) throws(KeychainError) -> Done {
        try context.service.contexts.end(self.context, from: context.caller)
        return Done()
    }
}

extension OperationPerformer {
    /// Ends a context and wipes its keys. It is no error if it has ended already. One that cannot be ended
    /// now ends with the connection.
    package func endContext(_ context: AuthenticationContextID) { _ = try? perform(EndContext(context)) }
}

// MARK: Coding

extension EndContext {
    init(_ wire: Data) throws(WireError) { context = try AuthenticationContextID(wire: wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        .endContext(Data(context.bytes))
    }
}

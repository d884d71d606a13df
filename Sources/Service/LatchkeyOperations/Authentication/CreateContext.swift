// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Creates an authentication context of the caller's process.
package struct CreateContext: KeychainOperation {
    package init() {}

    package static let traits: OperationTraits = [.accessesContexts, .worksWithoutLog]

    package var audit: AuditDetails? { nil }

    package func run(in context: some OperationContext) throws(KeychainError) -> ContextHandle {
        ContextHandle(try context.service.createContext(from: context.caller))
    }
}

/// The handle of a context.
package struct ContextHandle: ResponseContent {
    package let id: AuthenticationContextID

    package init(_ id: AuthenticationContextID) { self.id = id }
}

// MARK: Coding

extension CreateContext {
    init(_ wire: WireNothing) throws(WireError) { try requireKnown(wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        .createContext(WireNothing())
    }
}

extension ContextHandle {
    init(_ wire: Data) throws(WireError) { id = try AuthenticationContextID(wire: wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content { .context(Data(id.bytes)) }
}

// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Creates an authentication context of the caller's process.
package struct CreateContext: KeychainOperation {
    /// The context of another keychain that this one makes known to itself, with nothing proven in it; nil for a new
    /// one. Not for requests to a daemon: the daemon itself decides on the owners of contexts.
    private let adopted: AuthenticationContextID?

    package init() { adopted = nil }

    private init(adopting context: AuthenticationContextID) { adopted = context }

    package static let traits: OperationTraits = [.accessesContexts, .worksWithoutLog]

    package var audit: AuditDetails? { nil }

    package var reach: OperationReach { .everyKeychain }

    /// A context is one in every keychain; a factor that is proven in one of them counts there.
    package func rest(after answer: ContextHandle) -> CreateContext? { CreateContext(adopting: answer.id) }

    package func run(in context: some OperationContext) throws(KeychainError) -> ContextHandle {
        if let adopted {
            try context.service.contexts.adopt(adopted, from: context.caller)
            return ContextHandle(adopted)
        }
        return ContextHandle(try context.service.contexts.create(from: context.caller))
    }
}

/// The handle of a context.
package struct ContextHandle: ResponseContent {
    package let id: AuthenticationContextID

    package init(_ id: AuthenticationContextID) { self.id = id }
}

extension OperationPerformer {
    /// Creates an empty authentication context: factors that a person has proven once, and several calls of one process
    /// can use. It belongs to the process that created it, ends with it, and loses the factors when the keychain is
    /// locked.
    ///
    /// - Throws: errSecAllocate if the process has too many.
    package func createContext() throws(KeychainError) -> AuthenticationContextID { try perform(CreateContext()).id }
}

// MARK: Coding

extension CreateContext {
    init(_ wire: WireNothing) throws(WireError) {
        try requireKnown(wire)
        adopted = nil
    }

    package func encoded(_ secrets: inout SecretCollector) throws(WireError) -> WireRequest.OneOf_Operation {
        guard adopted == nil else { throw .malformed("a context of another keychain cannot be requested") }
        return .createContext(WireNothing())
    }
}

extension ContextHandle {
    init(_ wire: Data) throws(WireError) { id = try AuthenticationContextID(wire: wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content { .context(Data(id.bytes)) }
}

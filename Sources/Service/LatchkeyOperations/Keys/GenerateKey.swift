// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Generates a key and stores it.
package struct GenerateKey: KeychainOperation {
    package let generation: KeyGeneration

    package init(_ generation: KeyGeneration) { self.generation = generation }

    package static let traits: OperationTraits = [.accessesItems, .changes]

    package var audit: AuditDetails? {
        AuditDetails("generate-key", itemClass: .key, group: generation.privateHalf.accessGroup)
    }

    package var authentication: Authentication? { generation.privateHalf.authentication }

    package func authenticated(by authentication: Authentication) -> GenerateKey {
        var generation = generation
        generation.privateHalf.authentication = authentication
        return GenerateKey(generation)
    }

    package func run(in context: some OperationContext) throws(KeychainError) -> GeneratedKey {
        let (service, caller) = (try context.service, context.caller)
        guard generation.kind.type == .rsa else { return try service.keys.generate(generation, from: caller) }
        return try context.slow(.computation) { () throws(KeychainError) in
            try service.keys.generate(generation, from: caller)
        }
    }

    package func kept(_ answer: GeneratedKey) throws(KeychainError) -> GeneratedKey {
        guard answer.privateHalf.isShort, answer.publicHalf?.isShort != false else { throw .lostAnswer }
        return answer
    }
}

extension GeneratedKey: ResponseContent {
    package var auditedCount: Int { publicHalf == nil ? 1 : 2 }
    package var auditedGroup: AccessGroup? { privateHalf.accessGroup }
}

extension OperationPerformer {
    /// Generates a key pair, and stores its private half, and its public half if requested: both
    /// items, or none.
    ///
    /// - Throws: the errors of ``add(_:)`` for either half; errSecKeySizeNotAllowed.
    package func generateKey(_ generation: KeyGeneration) throws(KeychainError) -> GeneratedKey {
        try perform(GenerateKey(generation))
    }
}

// MARK: Coding

extension GenerateKey {
    init(_ wire: WireGenerateKey, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        generation = KeyGeneration(
            try wire.kind.decode(), privateHalf: try wire.privateHalf.decode(&secrets),
            publicHalf: wire.hasPublicHalf ? try wire.publicHalf.decode(&secrets) : nil)
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireGenerateKey()
        wire.kind = WireKeyKind(generation.kind)
        wire.privateHalf = WireAddition(generation.privateHalf, &secrets)
        if let half = generation.publicHalf { wire.publicHalf = WireAddition(half, &secrets) }
        return .generateKey(wire)
    }
}

extension GeneratedKey {
    init(_ wire: WireGeneratedKey, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        self.init(
            privateHalf: try wire.privateHalf.decode(&secrets),
            publicHalf: wire.hasPublicHalf ? try wire.publicHalf.decode(&secrets) : nil,
            publicKey: Array(wire.publicKey))
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        var wire = WireGeneratedKey()
        wire.privateHalf = WireRecord(privateHalf, &secrets)
        if let half = publicHalf { wire.publicHalf = WireRecord(half, &secrets) }
        wire.publicKey = Data(publicKey)
        return .generatedKey(wire)
    }
}

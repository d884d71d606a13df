// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Returns the public half of a key of the keychain.
package struct ReadPublicKey: KeychainOperation {
    package let reference: PersistentReference

    package init(of reference: PersistentReference) { self.reference = reference }

    package static let traits: OperationTraits = .accessesItems

    package var audit: AuditDetails? { AuditDetails("public-key", itemClass: .key) }

    package var reach: OperationReach { .searchList }

    package func run(in context: some OperationContext) throws(KeychainError) -> PublicKeyInfo {
        try context.service.keys.publicKey(of: reference, from: context.caller)
    }
}

extension PublicKeyInfo: ResponseContent {
    package var auditedCount: Int { 1 }
}

extension OperationPerformer {
    /// Returns the public key of a key item, or of the pair of a private key.
    ///
    /// - Throws: errSecDecode if the item holds no key.
    package func publicKey(of reference: PersistentReference) throws(KeychainError) -> PublicKeyInfo {
        try perform(ReadPublicKey(of: reference))
    }
}

// MARK: Coding

extension ReadPublicKey {
    init(_ wire: Data) throws(WireError) { reference = try PersistentReference(wire: wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        .publicKey(Data(reference.bytes))
    }
}

extension PublicKeyInfo {
    init(_ wire: WirePublicKeyInfo) throws(WireError) {
        try requireKnown(wire)
        guard let half = KeyHalf(rawValue: Int64(wire.half)) else {
            throw .malformed("unknown half \(wire.half) of a key pair")
        }
        self.init(try wire.kind.decode(), half: half, publicKey: Array(wire.publicKey))
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        .publicKey(WirePublicKeyInfo(self))
    }
}

extension WirePublicKeyInfo {
    init(_ info: PublicKeyInfo) {
        self.init()
        kind = WireKeyKind(info.kind)
        half = UInt32(info.half.rawValue)
        publicKey = Data(info.publicKey)
    }
}

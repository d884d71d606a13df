// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Stores certificates and their private keys: all of them, or none.
package struct AddIdentities: KeychainOperation {
    package let identities: [IdentityAddition]

    package init(_ identities: [IdentityAddition]) { self.identities = identities }

    package static let traits: OperationTraits = [.accessesItems, .changes]

    package var audit: AuditDetails? {
        // A call that names several groups is refused.
        AuditDetails("add", itemClass: .identity, group: IdentityAddition.commonGroup(of: identities))
    }

    package var authentication: Authentication? { identities.first?.key.authentication ?? Authentication() }

    package func authenticated(by authentication: Authentication) -> AddIdentities {
        let identities = identities.map { identity in
            var identity = identity
            identity.certificate.authentication = authentication
            identity.key.authentication = authentication
            return identity
        }
        return AddIdentities(identities)
    }

    package func run(in context: some OperationContext) throws(KeychainError) -> ItemCount {
        ItemCount(try context.service.identities.add(identities, from: context.caller))
    }
}

extension OperationPerformer {
    /// Stores identities in one transaction: all of them, or none. One half of an identity may
    /// exist already; it is not changed.
    ///
    /// - Returns: how many items were stored.
    /// - Throws: errSecDuplicateItem if both halves of an identity exist; errSecParam for more than
    ///   ``IdentityAddition/maxCount`` identities, or if a half has the wrong class; the errors of
    ///   ``add(_:)`` for either half.
    package func addIdentities(_ identities: [IdentityAddition]) throws(KeychainError) -> Int {
        // A daemon would close the connection.
        try IdentityAddition.check(identities)
        return try perform(AddIdentities(identities)).count
    }
}

// MARK: Coding

extension AddIdentities {
    init(_ wire: WireAddIdentities, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        let halves = wire.additions
        guard halves.count.isMultiple(of: 2), halves.count / 2 <= IdentityAddition.maxCount else {
            throw .malformed(
                "found \(halves.count) halves of identities; at most \(IdentityAddition.maxCount) pairs are allowed")
        }
        var identities: [IdentityAddition] = []
        var certificate: ItemAddition?
        for bytes in halves {
            let half = try WireAddition(bytes: Array(bytes)).decode(&secrets)
            if let first = certificate.take() {
                identities.append(IdentityAddition(certificate: first, key: half))
            } else {
                certificate = half
            }
        }
        self.identities = identities
    }

    package func encoded(_ secrets: inout SecretCollector) throws(WireError) -> WireRequest.OneOf_Operation {
        var wire = WireAddIdentities()
        for identity in identities {
            for half in [identity.certificate, identity.key] {
                wire.additions.append(Data(try WireAddition(half, &secrets).bytes()))
            }
        }
        return .addIdentities(wire)
    }
}

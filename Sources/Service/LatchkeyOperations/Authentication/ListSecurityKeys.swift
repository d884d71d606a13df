// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Returns the enrolled security keys.
package struct ListSecurityKeys: KeychainOperation {
    package init() {}

    package static let traits: OperationTraits = [.administers, .worksWithoutLog]

    package var audit: AuditDetails? { nil }

    package func run(in context: some OperationContext) throws(KeychainError) -> EnrolledSecurityKeys {
        EnrolledSecurityKeys(try context.service.securityKeys.all())
    }
}

/// The enrolled security keys, in the order of their enrollment.
package struct EnrolledSecurityKeys: ResponseContent {
    package let keys: [SecurityKeyInfo]

    package init(_ keys: [SecurityKeyInfo]) { self.keys = keys }
}

extension OperationPerformer {
    /// Returns the enrolled security keys, in the order of their enrollment. They need not be connected.
    package func securityKeys() throws(KeychainError) -> [SecurityKeyInfo] { try perform(ListSecurityKeys()).keys }
}

// MARK: Coding

extension ListSecurityKeys {
    init(_ wire: WireNothing) throws(WireError) { try requireKnown(wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        .securityKeys(WireNothing())
    }
}

extension EnrolledSecurityKeys {
    init(_ wire: WireSecurityKeys) throws(WireError) {
        try requireKnown(wire)
        guard wire.keys.count <= SecurityKeyInfo.maxCount else {
            throw .malformed("\(wire.keys.count) security keys, at most \(SecurityKeyInfo.maxCount) are allowed")
        }
        keys = try wire.keys.map { (key) throws(WireError) in try SecurityKeyInfo(key) }
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        var wire = WireSecurityKeys()
        wire.keys = keys.map(\.wire)
        return .securityKeys(wire)
    }
}

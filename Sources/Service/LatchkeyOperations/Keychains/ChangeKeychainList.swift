// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Changes the search list or the default keychain.
package struct ChangeKeychainList: KeychainOperation {
    package let change: KeychainListChange

    package init(_ change: KeychainListChange) { self.change = change }

    package static let traits: OperationTraits = [.changes, .administers, .worksWithoutKeychain]

    package var audit: AuditDetails? { AuditDetails("change-keychain-list") }

    package func run(in context: some OperationContext) throws(KeychainError) -> Done {
        try context.registry.changeKeychainList(change)
        return Done()
    }
}

extension OperationPerformer {
    /// Changes the search list or the default keychain. Throws as ``KeychainRegistry`` does.
    package func changeKeychainList(_ change: KeychainListChange) throws(KeychainError) {
        _ = try perform(ChangeKeychainList(change))
    }
}

// MARK: Coding

extension ChangeKeychainList {
    init(_ wire: WireChangeKeychainList) throws(WireError) {
        try requireKnown(wire)
        switch wire.change {
        case .search(let names)?:
            try requireKnown(names)
            change = .search(try KeychainListChange.names(names.names))
        case .defaultKeychain(let name)?: change = .defaultKeychain(try KeychainName(wire: name))
        case nil: throw .malformed("a change of the list of keychains without a change")
        }
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireChangeKeychainList()
        switch change {
        case .search(let names):
            var list = WireKeychainNames()
            list.names = names.map(\.text)
            wire.search = list
        case .defaultKeychain(let name): wire.defaultKeychain = name.text
        }
        return .changeKeychainList(wire)
    }
}

extension KeychainListChange {
    static func names(_ wire: [String]) throws(WireError) -> [KeychainName] {
        guard wire.count <= KeychainList.maxCount else {
            throw .malformed("\(wire.count) keychains to search, at most \(KeychainList.maxCount) are allowed")
        }
        return try wire.map { (text) throws(WireError) in try KeychainName(wire: text) }
    }
}

// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Returns the keychains of the user, and the search list.
package struct ListKeychains: KeychainOperation {
    package init() {}

    package static let traits: OperationTraits = [.worksWithoutKeychain, .worksWithoutLog]

    package var audit: AuditDetails? { nil }

    package func run(in context: some OperationContext) throws(KeychainError) -> KeychainOverview {
        try context.registry.keychains()
    }
}

extension OperationPerformer {
    /// Returns every keychain with its place, and the search list.
    package func keychains() throws(KeychainError) -> KeychainOverview { try perform(ListKeychains()) }
}

// MARK: Coding

extension ListKeychains {
    init(_ wire: WireNothing) throws(WireError) { try requireKnown(wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        .listKeychains(WireNothing())
    }
}

extension KeychainOverview: ResponseContent {
    init(_ wire: WireKeychains) throws(WireError) {
        try requireKnown(wire)
        guard wire.places.count <= KeychainList.maxCount else {
            throw .malformed("\(wire.places.count) keychains, at most \(KeychainList.maxCount) are allowed")
        }
        let places = try wire.places.map { (place) throws(WireError) in
            try requireKnown(place)
            guard place.path.utf8.count <= WireNames.maxPathLength else {
                throw .malformed("the path of a keychain is too long")
            }
            return KeychainPlace(try KeychainName(wire: place.name), path: place.path)
        }
        let search = try KeychainListChange.names(wire.search)
        let chosen = try KeychainName(wire: wire.defaultKeychain)
        guard let list = try? KeychainList(searching: search, defaultKeychain: chosen) else {
            throw .malformed("the search list is too long")
        }
        self.init(places: places, list: list)
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        var wire = WireKeychains()
        wire.places = places.map { place in
            var wire = WireKeychainPlace()
            (wire.name, wire.path) = (place.name.text, place.path)
            return wire
        }
        wire.search = list.search.map(\.text)
        wire.defaultKeychain = list.defaultKeychain.text
        return .keychains(wire)
    }
}

// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyOperations
package import LatchkeyService

/// The keychains of a search list as one. Items are found in all of them, in the order of the list. The default
/// keychain gets new items, and operations on a whole keychain.
///
/// A search passes over a keychain that is locked or cannot be opened, and fails with that reason only
/// if no other keychain has an answer. A change of several items is all or nothing in each keychain.
package final class SearchedKeychains: KeychainService {
    /// A keychain: opened, or why not.
    package typealias Member = Result<any KeychainService, KeychainError>

    private let members: [KeychainName: Member]
    private let search: [KeychainName]
    private let defaultKeychain: KeychainName
    let changeObservers = ObservedKeychains()

    /// - Parameters:
    ///   - members: the keychains that are named below, and the one that every user has, with the keys of files.
    ///   - search: in the order of the search list.
    ///   - defaultKeychain: gets new items.
    package init(_ members: [KeychainName: Member], search: [KeychainName], defaultKeychain: KeychainName) {
        (self.members, self.search, self.defaultKeychain) = (members, search, defaultKeychain)
    }

    private func member(_ name: KeychainName) throws(KeychainError) -> any KeychainService {
        try (members[name] ?? .failure(UserKeychains.missing(name))).get()
    }

    /// The default keychain.
    var primary: any KeychainService { get throws(KeychainError) { try member(defaultKeychain) } }

    package var fileKeychain: any KeychainService { get throws(KeychainError) { try member(.login) } }

    /// Every keychain of the search list that is open, but for the default keychain.
    var others: [any KeychainService] {
        search.filter { $0 != defaultKeychain }.compactMap { try? member($0) }
    }

    package var held: EmbeddedService? { (try? primary)?.held }

    package func unlockAutomatically() { (try? primary)?.unlockAutomatically() }

    package var isAway: Bool { (try? primary)?.isAway ?? false }

    /// The members stay open; the caller that opened them closes them.
    package func close() {}

    package func perform<Operation: KeychainOperation>(
        _ operation: Operation, from caller: CallerIdentity, _ exchange: Exchange
    ) throws(KeychainError) -> Operation.Answer {
        var walk = SearchWalk(members, search: search, defaultKeychain: defaultKeychain)
        return try walk.perform(operation, exchange, isHere: { $0.held != nil }) {
            (keychain, operation, exchange) throws(KeychainError) in
            try keychain.perform(operation, from: caller, exchange)
        }
    }
}

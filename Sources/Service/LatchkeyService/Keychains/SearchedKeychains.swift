// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import LinuxSystem

/// The keychains of a search list as one. Items are found in all of them, in the order of the list;
/// new items go to the default keychain, and what is about a whole keychain is about that one.
///
/// A search passes over a keychain that is locked or cannot be opened, and fails with that reason only
/// if no other keychain has an answer. A change of several items is all or nothing in each keychain.
public final class SearchedKeychains: Sendable {
    /// A keychain: opened, or why not.
    public typealias Member = Result<any KeychainService, KeychainError>

    private let members: [KeychainName: Member]
    private let search: [KeychainName]
    private let defaultKeychain: KeychainName
    private let answering = SystemMutex<Set<KeychainName>>([])
    let changeObservers = ObservedKeychains()

    /// - Parameters:
    ///   - members: the keychains that are named below, and the one that every user has: it has the keys
    ///     of protected files, because they outlive the keychain of a script.
    ///   - search: in the order of the search list.
    ///   - defaultKeychain: gets new items.
    public init(_ members: [KeychainName: Member], search: [KeychainName], defaultKeychain: KeychainName) {
        (self.members, self.search, self.defaultKeychain) = (members, search, defaultKeychain)
    }

    /// The keychains that have answered a call, or were changed by one.
    public var used: Set<KeychainName> { answering.withLock { $0 } }

    private func use(_ name: KeychainName) throws(KeychainError) -> any KeychainService {
        let keychain = try (members[name] ?? .failure(UserKeychains.missing(name))).get()
        answering.withLock { _ = $0.insert(name) }
        return keychain
    }

    /// The default keychain.
    var primary: any KeychainService { get throws(KeychainError) { try use(defaultKeychain) } }
    /// The keychain that has the keys of files.
    public var fileKeychain: any KeychainService { get throws(KeychainError) { try use(.login) } }

    /// Every keychain that is open.
    var all: [any KeychainService] { members.values.compactMap { try? $0.get() } }

    /// Every keychain of the search list that is open, but for the default keychain.
    var others: [any KeychainService] {
        search.filter { $0 != defaultKeychain }.compactMap { try? members[$0]?.get() }
    }

    /// A keychain that this process holds, for what only such a one can do.
    func hosted(_ keychain: any KeychainService) throws(KeychainError) -> any HostedKeychain {
        guard let hosted = keychain as? any HostedKeychain else {
            throw KeychainError(.internalFailure, "the keychain is held by another process")
        }
        return hosted
    }

    // MARK: Searching

    /// Calls `body` with the keychains in their order, until it returns false.
    ///
    /// - Throws: if no keychain has answered: the first reason why one could not, or errSecItemNotFound.
    func search(
        _ body: (any KeychainService) throws(KeychainError) -> Bool
    ) throws(KeychainError) {
        var problem: KeychainError?
        var hasAnswer = false
        for name in search {
            do throws(KeychainError) {
                let keychain = try (members[name] ?? .failure(UserKeychains.missing(name))).get()
                let wantsMore = try body(keychain)
                _ = try use(name)
                hasAnswer = true
                guard wantsMore else { return }
            } catch {
                guard error.status != .itemNotFound, error.status != .noSuchKeychain else { continue }
                if error.letsOthersAnswer {
                    problem = problem ?? error
                } else {
                    // The keychain has the item, and refuses it.
                    _ = try? use(name)
                    throw error
                }
            }
        }
        guard hasAnswer else { throw problem ?? .itemNotFound }
    }

    /// Returns the answer of the first keychain that has one.
    func first<Value>(
        _ body: (any KeychainService) throws(KeychainError) -> Value
    ) throws(KeychainError) -> Value {
        var found: Value?
        try search { (keychain) throws(KeychainError) in
            found = try body(keychain)
            return false
        }
        guard let found else { throw .itemNotFound }
        return found
    }

    /// Returns the results of all keychains, up to the limit of the query.
    func collect<Value>(
        _ query: ItemQuery, _ body: (any KeychainService, ItemQuery) throws(KeychainError) -> [Value]
    ) throws(KeychainError) -> [Value] {
        var found: [Value] = []
        try search { (keychain) throws(KeychainError) in
            var rest = query
            if case .atMost(let count) = query.limit {
                rest.limit = .atMost(count - UInt32(clamping: min(found.count, Int(count))))
            }
            found += try body(keychain, rest)
            switch query.limit {
            case nil, .one: return found.isEmpty
            case .all: return true
            case .atMost(let count): return found.count < Int(count)
            }
        }
        return found
    }

    /// Returns the sum of the changes in all keychains.
    func sum(
        _ limit: MatchLimit?, _ body: (any KeychainService) throws(KeychainError) -> Int
    ) throws(KeychainError) -> Int {
        var count = 0
        try search { (keychain) throws(KeychainError) in
            count += try body(keychain)
            return limit != .one
        }
        return count
    }
}

extension KeychainError {
    /// Whether another keychain of a search list may answer in the place of the one with this error.
    package var letsOthersAnswer: Bool {
        switch status {
        case .interactionNotAllowed: authentication == nil
        case .notAvailable, .invalidKeychain: true
        default: false
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyOperations
internal import LatchkeyService

/// The keychains of a search list, and how they perform one operation: as its
/// ``KeychainOperation/reach`` says.
package struct SearchWalk<Member> {
    private let members: [KeychainName: Result<Member, KeychainError>]
    private let search: [KeychainName]
    private let defaultKeychain: KeychainName
    /// The keychains that have answered, or were changed.
    package private(set) var used: Set<KeychainName> = []

    /// - Parameters:
    ///   - members: the keychains that are named below, and the one that every user has: opened, or why not.
    ///   - search: in the order of the search list.
    ///   - defaultKeychain: gets new items.
    package init(
        _ members: [KeychainName: Result<Member, KeychainError>], search: [KeychainName], defaultKeychain: KeychainName
    ) {
        (self.members, self.search, self.defaultKeychain) = (members, search, defaultKeychain)
    }

    /// Performs an operation.
    ///
    /// - Parameters:
    ///   - isHere: whether a keychain is held by the process that holds the default one: the knowledge of one process,
    ///     such as a context, is unknown in another one.
    ///   - isRefusal: whether an error says that the caller has no right, so that no other keychain may answer.
    ///   - perform: performs the operation, or the rest of it, at one keychain.
    package mutating func perform<Operation: KeychainOperation>(
        _ operation: Operation, _ exchange: Exchange, isHere: (Member) -> Bool = { _ in true },
        isRefusal: (KeychainError) -> Bool = { _ in false },
        by perform: (Member, Operation, Exchange) throws(KeychainError) -> Operation.Answer
    ) throws(KeychainError) -> Operation.Answer {
        switch operation.reach {
        case .defaultKeychain: return try perform(try use(defaultKeychain), operation, exchange)
        case .loginKeychain: return try perform(try use(.login), operation, exchange)
        case .searchList: return try walk(operation, exchange, isRefusal, perform)
        case .searchListThenDefault:
            do throws(KeychainError) {
                return try walk(operation.inSearchList, exchange, isRefusal, perform)
            } catch {
                guard error == .itemNotFound else { throw error }
                return try perform(try use(defaultKeychain), operation, exchange)
            }
        case .everyKeychain:
            var answer = try perform(try use(defaultKeychain), operation, exchange)
            for (name, member) in members where name != defaultKeychain {
                guard let keychain = try? member.get(), isHere(keychain), let next = operation.rest(after: answer)
                else { continue }
                answer.append(try perform(keychain, next, exchange))
            }
            return answer
        }
    }

    /// Asks the keychains in their order, until nothing is missing.
    ///
    /// - Throws: if no keychain has found anything: the first reason why one could not search.
    private mutating func walk<Operation: KeychainOperation>(
        _ operation: Operation, _ exchange: Exchange, _ isRefusal: (KeychainError) -> Bool,
        _ perform: (Member, Operation, Exchange) throws(KeychainError) -> Operation.Answer
    ) throws(KeychainError) -> Operation.Answer {
        var next: Operation? = operation
        var (answer, nothing) = (Operation.Answer?.none, Operation.Answer?.none)
        var problem: KeychainError?
        for name in search {
            guard let request = next else { break }
            let passage = Passage(exchange, isFirst: answer == nil)
            // Parts keep the order of the keychains.
            if let take = exchange.take { answer = try answer?.drained(by: take) }
            do throws(KeychainError) {
                let keychain = try member(name)
                let part = try perform(keychain, request, passage.exchange)
                guard !part.isEmpty else {
                    nothing = nothing ?? part
                    continue
                }
                used.insert(name)
                if answer == nil { answer = part } else { answer?.append(part) }
                next = answer.flatMap { operation.rest(after: $0) }
            } catch {
                // Another keychain must not answer instead of one that has answered in part.
                if passage.hasPassed { throw error }
                guard error.status != .itemNotFound, error.status != .noSuchKeychain else { continue }
                guard error.letsOthersAnswer, !isRefusal(error) else {
                    // The keychain has the item, and refuses it.
                    used.insert(name)
                    throw error
                }
                problem = problem ?? error
            }
        }
        if let answer { return answer }
        if let problem { throw problem }
        guard let nothing = nothing ?? operation.nothing else { throw .itemNotFound }
        return nothing
    }

    private func member(_ name: KeychainName) throws(KeychainError) -> Member {
        try (members[name] ?? .failure(UserKeychains.missing(name))).get()
    }

    private mutating func use(_ name: KeychainName) throws(KeychainError) -> Member {
        let keychain = try member(name)
        used.insert(name)
        return keychain
    }
}

/// The results that one keychain of several passes on.
private final class Passage {
    private let whole: Exchange
    /// Whether no keychain before this one has answered.
    private let isFirst: Bool
    private(set) var hasPassed = false

    init(_ whole: Exchange, isFirst: Bool) { (self.whole, self.isFirst) = (whole, isFirst) }

    var exchange: Exchange {
        var own = whole
        if let take = whole.take {
            own.take = { [self] (content) throws(KeychainError) in
                hasPassed = true
                try take(content)
            }
        }
        own.restart = { [self] () throws(KeychainError) in
            guard let restart = whole.restart, isFirst else { throw .changedDuringSearch }
            try restart()
            hasPassed = false
        }
        return own
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

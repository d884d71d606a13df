// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// A search without a question to the person. It leaves out locked items, and items with an access control that needs
/// the person.
struct UnlockedSearch {
    /// Whether locked items were left out.
    private(set) var omitsLockedItems = false
    /// Whether items were left out because their access control needs the person.
    private(set) var omitsConstrainedItems = false

    /// Returns the matches without those that need the person. Locked items are not left out.
    mutating func silentMatches(
        _ query: ItemQuery, _ returning: ReturnTypes, in keychain: KeychainSession
    ) throws(KeychainError) -> ItemMatches {
        var found = ItemMatches(records: [], damaged: 0)
        try withoutConstrainedItems(query) { (query) throws(KeychainError) in
            found = try PasswordSearch.matches(query, returning: returning, in: keychain)
        }
        return found
    }

    /// Passes the matches to `take` in parts, while the keychain is read. If some items are locked, searches class
    /// by class.
    ///
    /// - Parameter state: the state that `take` has made of the parts; the state of a failed attempt does not count.
    mutating func forEachPart<State>(
        of query: ItemQuery, _ returning: ReturnTypes, in keychain: KeychainSession, into state: inout State,
        _ take: (ItemMatches, inout State) -> Void
    ) throws(KeychainError) {
        try withoutLockedItems(query) { (search, query) throws(KeychainError) in
            try search.withoutConstrainedItems(query) { (query) throws(KeychainError) in
                let before = state
                var attempt = before
                try keychain.copyMatching(query, returning: returning) {
                    attempt = before
                } inParts: { part in
                    take(part, &attempt)
                }
                state = attempt
            }
        }
    }

    /// Passes the matches of ``forEachPart(of:_:in:into:_:)`` to `take`. `take` may wait for a pager, and cannot take
    /// anything back.
    ///
    /// A result that is longer than ``HeldParts`` holds is therefore read twice: the first search finds the items to
    /// leave out.
    ///
    /// - Throws: the error of `take`; errSecNotAvailable if the keychain was changed between its parts.
    mutating func forEachPart(
        of query: ItemQuery, _ returning: ReturnTypes, in keychain: KeychainSession,
        _ take: (ItemMatches) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        var failure: CommandFailure?
        do throws(KeychainError) {
            try withoutLockedItems(query) { (search, query) throws(KeychainError) in
                try search.withoutConstrainedItems(query) { (query) throws(KeychainError) in
                    try Self.pass(query, returning, keychain) { (part) throws(KeychainError) in
                        do throws(CommandFailure) {
                            try take(part)
                        } catch {
                            failure = error
                            throw KeychainError(.io, "the items are not written")
                        }
                    }
                }
            }
        } catch {
            throw failure ?? .status(error, of: PasswordSearch.function)
        }
    }

    private static func pass(
        _ query: ItemQuery, _ returning: ReturnTypes, _ keychain: KeychainSession,
        _ take: (ItemMatches) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        var held = HeldParts()
        try keychain.copyMatching(query, returning: returning) {
            held = HeldParts()
        } inParts: { part in
            held.add(part)
        }
        if !held.isFull { return try held.forEach(take) }
        held = HeldParts()
        var hasPassed = false
        do throws(KeychainError) {
            try keychain.copyMatching(query, returning: returning) { () throws(KeychainError) in
                if hasPassed { throw .changedDuringSearch }
                held = HeldParts()
            } inParts: { (part) throws(KeychainError) in
                held.add(part)
                guard held.isFull else { return }
                hasPassed = true
                try held.forEach(take)
                held = HeldParts()
                held.add(part)
            }
        } catch {
            // Another search would pass on the same parts again.
            let wouldRepeat = error.status == .interactionNotAllowed || error.needsPerson
            throw hasPassed && wouldRepeat ? .changedDuringSearch : error
        }
        try held.forEach(take)
    }

    // MARK: Items that are left out

    /// Searches with `body`; if some items are locked, class by class, without the locked classes.
    private mutating func withoutLockedItems(
        _ query: ItemQuery, _ body: (inout Self, ItemQuery) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        do throws(KeychainError) {
            return try body(&self, query)
        } catch {
            guard error.status == .interactionNotAllowed else { throw error }
        }
        omitsLockedItems = true
        for protection in ProtectionClass.allCases {
            var some = query
            some.attributes[.accessible] = .string(protection.rawValue)
            do throws(KeychainError) {
                try body(&self, some)
            } catch {
                guard error.status == .interactionNotAllowed else { throw error }
            }
        }
    }

    /// Searches with `body`. `body` fails if there is an item that needs the person. Only then is the search repeated
    /// without such items, so that it is known whether there are any.
    private mutating func withoutConstrainedItems(
        _ query: ItemQuery, _ body: (ItemQuery) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        var silent = query
        silent.authentication.interaction = .fail
        do throws(KeychainError) {
            return try body(silent)
        } catch {
            guard error.needsPerson else { throw error }
        }
        omitsConstrainedItems = true
        silent.authentication.interaction = .skip
        try body(silent)
    }

    /// The notes about items that were left out, with words to type.
    var notes: [(text: TerminalText, hint: TerminalText)] {
        var notes: [(text: TerminalText, hint: TerminalText)] = []
        if omitsLockedItems { notes.append(("locked items are not shown", "--passcode-file FILE unlocks them")) }
        if omitsConstrainedItems {
            notes.append(
                (
                    "items with an access control that needs you are not shown",
                    "name one, as in 'latchkey get', to be asked"
                ))
        }
        return notes
    }
}

/// The parts of a search, as many as a process should hold.
private struct HeldParts {
    private var parts: [ItemMatches] = []
    private var size = 0

    /// Whether a part was not added because the others are enough.
    private(set) var isFull = false

    mutating func add(_ part: ItemMatches) {
        guard size <= Self.maxSize else { return isFull = true }
        parts.append(part)
        size += part.records.reduce(0) { $0 + 1024 + ($1.secrets?.data?.count ?? 0) }
    }

    func forEach(_ take: (ItemMatches) throws(KeychainError) -> Void) throws(KeychainError) {
        for part in parts { try take(part) }
    }

    /// In bytes, at about 1 KiB for each item.
    private static let maxSize = 8 << 20
}

extension KeychainError {
    /// Whether an item needs the person, as a search with or without a prompt says it.
    fileprivate var needsPerson: Bool {
        if case .needed = authentication { return true }
        return authentication == .failed(.notInteractive)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// Lists items without a question to the person: locked items, and items whose access control needs
/// the person, are left out.
struct UnlockedSearch {
    /// Whether locked items were left out.
    private(set) var omitsLockedItems = false
    /// Whether items were left out because their access control needs the person.
    private(set) var omitsConstrainedItems = false

    /// Returns the matches. If some items are locked, searches class by class.
    mutating func matches(
        _ query: ItemQuery, _ returning: ReturnTypes, in keychain: KeychainSession
    ) throws(KeychainError) -> ItemMatches {
        do {
            return try silentMatches(query, returning, in: keychain)
        } catch {
            guard error.status == .interactionNotAllowed else { throw error }
        }
        omitsLockedItems = true
        var all = ItemMatches(records: [], damaged: 0)
        for protection in ProtectionClass.allCases {
            var some = query
            some.attributes[.accessible] = .string(protection.rawValue)
            do {
                let matches = try silentMatches(some, returning, in: keychain)
                all.records += matches.records
                all.damaged += matches.damaged
            } catch {
                guard error.status == .interactionNotAllowed else { throw error }
            }
        }
        return all
    }

    /// Returns the matches without those that need the person. Locked items are not left out.
    ///
    /// The first search fails if there is an item that needs the person. Only then is the search
    /// repeated without such items, so that it is known whether there are any.
    mutating func silentMatches(
        _ query: ItemQuery, _ returning: ReturnTypes, in keychain: KeychainSession
    ) throws(KeychainError) -> ItemMatches {
        var silent = query
        silent.authentication.interaction = .fail
        do {
            return try PasswordSearch.matches(silent, returning: returning, in: keychain)
        } catch {
            guard error.authentication == .failed(.notInteractive) else { throw error }
        }
        omitsConstrainedItems = true
        silent.authentication.interaction = .skip
        return try PasswordSearch.matches(silent, returning: returning, in: keychain)
    }

    /// Passes the matches to `take` in parts, as ``matches(_:_:in:)`` finds them.
    ///
    /// - Parameter state: what `take` has made of the parts; that of an attempt that fails does not count.
    mutating func forEachPart<State>(
        of query: ItemQuery, _ returning: ReturnTypes, in keychain: KeychainSession, into state: inout State,
        _ take: (ItemMatches, inout State) -> Void
    ) throws(KeychainError) {
        do {
            return try forEachSilentPart(of: query, returning, in: keychain, into: &state, take)
        } catch {
            guard error.status == .interactionNotAllowed else { throw error }
        }
        omitsLockedItems = true
        for protection in ProtectionClass.allCases {
            var some = query
            some.attributes[.accessible] = .string(protection.rawValue)
            do {
                try forEachSilentPart(of: some, returning, in: keychain, into: &state, take)
            } catch {
                guard error.status == .interactionNotAllowed else { throw error }
            }
        }
    }

    private mutating func forEachSilentPart<State>(
        of query: ItemQuery, _ returning: ReturnTypes, in keychain: KeychainSession, into state: inout State,
        _ take: (ItemMatches, inout State) -> Void
    ) throws(KeychainError) {
        var silent = query
        for interaction in [Authentication.Interaction.fail, .skip] {
            silent.authentication.interaction = interaction
            let before = state
            var attempt = before
            do {
                try keychain.copyMatching(silent, returning: returning) {
                    attempt = before
                } inParts: { part in
                    take(part, &attempt)
                }
                state = attempt
                return
            } catch {
                if error.status == .itemNotFound { return }
                // Without a prompt, the service itself says that an item needs the person.
                guard interaction == .fail, case .needed = error.authentication else { throw error }
                omitsConstrainedItems = true
            }
        }
    }

    /// What was left out, as notes with what to type.
    var notes: [(text: TerminalText, hint: TerminalText)] {
        var notes: [(text: TerminalText, hint: TerminalText)] = []
        if omitsLockedItems { notes.append(("locked items are not shown", "--passcode-file FILE unlocks them")) }
        if omitsConstrainedItems {
            notes.append(
                ("items whose access control needs you are not shown", "name one, as in 'latchkey get', to be asked"))
        }
        return notes
    }
}

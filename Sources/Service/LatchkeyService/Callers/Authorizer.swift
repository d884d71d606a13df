// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainStore

/// A caller whose access groups are decided. Only ``Authorizer`` makes one, and every search is narrowed here.
struct AuthorizedCaller {
    private let readable: ItemSearch.Groups
    private let writable: ItemSearch.Groups
    /// Where an item goes whose maker names no group; nil where there is none to write to.
    private let home: AccessGroup?
    let executable: String
    /// Whether the caller shares its group with programs it does not know, so that a careless bulk change must stay within its own items.
    private let isAnonymous: Bool
    /// Why the caller has its groups.
    private let reason: String

    fileprivate init(
        readable: ItemSearch.Groups, writable: ItemSearch.Groups, home: AccessGroup?, executable: String,
        isAnonymous: Bool,
        reason: String
    ) {
        self.readable = readable
        self.writable = writable
        self.home = home
        self.executable = executable
        self.isAnonymous = isAnonymous
        self.reason = reason
    }

    fileprivate func report(_ facts: [CallerReport.Fact]) -> CallerReport {
        switch readable {
        case .all: CallerReport(facts: facts, groups: home.map { [$0] } ?? [], hasAllGroups: true, reason: reason)
        case .only(let groups): CallerReport(facts: facts, groups: groups, reason: reason)
        }
    }

    /// What a call does with the items it names.
    enum Access { case read, write }

    /// The group of a new item.
    ///
    /// - Throws: errSecMissingEntitlement where the named group is not the caller's to write.
    func groupForAddition(named name: String?) throws(KeychainError) -> AccessGroup {
        guard let name else {
            guard let home else { throw Self.noGroup }
            return home
        }
        return try permitted(name, in: writable)
    }

    /// The group an update moves items to.
    func groupForMove(named name: String) throws(KeychainError) -> AccessGroup {
        try permitted(name, in: writable)
    }

    /// The query as a search of the store, narrowed to what the caller may see or change.
    func search(_ query: ItemQuery, for access: Access) throws(KeychainError) -> ItemSearch {
        let allowed = access == .read ? readable : writable
        var groups = allowed
        if let name = query.accessGroup {
            // Every program that has a group may read the token group, which is empty until tokens publish items there.
            let isToken = access == .read && name == AccessGroup.token.name
            groups = .only([isToken ? .token : try permitted(name, in: allowed)])
        }
        guard let itemClass = query.persistentReference?.itemClass ?? query.itemClass else {
            throw .parameter("the query names neither a class nor a persistent reference")
        }
        var search = ItemSearch(
            itemClass, groups: groups, attributes: query.attributes, synchronizable: query.synchronizable,
            identifier: query.persistentReference?.identifier, includesTombstones: query.includesTombstones,
            match: query.match)
        guard access == .write else { return search }
        if case .only(let list) = writable, list.isEmpty { throw Self.noGroup }
        // Tombstones are the store's own; nobody changes or deletes one.
        search.includesTombstones = false
        if isAnonymous, !Self.isByReference(query, itemClass) { search.addedBy = executable }
        return search
    }

    /// Whether the query says which items it means, by a primary-key attribute or a reference, rather than all there are.
    private static func isByReference(_ query: ItemQuery, _ itemClass: ItemClass) -> Bool {
        if query.persistentReference != nil || query.match.items != nil { return true }
        let key = ItemSchema.of(itemClass).primaryKey.filter { !$0.isSystemSet }.map(\.attribute)
        return key.contains { query.attributes[$0] != nil }
    }

    private func permitted(_ name: String, in groups: ItemSearch.Groups) throws(KeychainError) -> AccessGroup {
        switch groups {
        case .all(let grade):
            guard name != AccessGroup.token.name, name != "*", !name.isEmpty else {
                throw KeychainError(.missingEntitlement, "the access group '\(name)' is nobody's to name")
            }
            return AccessGroup(name, grade: grade)
        case .only(let list):
            guard let group = list.first(where: { $0.name.hasSameBytes(as: name) }) else {
                throw KeychainError(
                    .missingEntitlement, "this program is not entitled to the access group '\(name)'",
                    hint: "list it under keychain-access-groups in the program's .entitlements file")
            }
            return group
        }
    }

    fileprivate static let noGroup = KeychainError(
        .missingEntitlement, "this program declares an identity, but no access group it may use",
        hint: "list a group under keychain-access-groups in the program's .entitlements file")
}

/// Decides which access groups a caller has. The one place where that happens.
///
/// What a program says of itself is a claim: nothing on this system proves which program of a user is calling. Attested are the groups that
/// the administrator's files give to a user, a unit or a domain that the kernel names.
enum Authorizer {
    static func authorize(_ caller: CallerIdentity) throws(KeychainError) -> AuthorizedCaller {
        switch caller.sandbox {
        case .application(let name)?:
            return entitled(
                to: [AccessGroup(name, grade: .claimed)], caller,
                "it runs in a sandbox, which has this group and no other")
        case .unidentified?:
            throw KeychainError(
                .missingEntitlement,
                "this program runs in a sandbox that does not say which application it holds, so it has no access group",
                hint:
                    "start it through flatpak run or snap run in a session of systemd, which names the application in its scope"
            )
        case nil: break
        }
        if let attested = caller.attestedGroups { return try attestedCaller(caller, attested) }
        if caller.isUserCommand {
            // The command acts for the user, whose claimed groups these all are.
            return AuthorizedCaller(
                readable: .all(.claimed), writable: .all(.claimed), home: .shared, executable: caller.executable,
                isAnonymous: false,
                reason: "it is the user's own command")
        }
        guard let declared = caller.declaredGroups else {
            return AuthorizedCaller(
                readable: .only([.shared]), writable: .only([.shared]), home: .shared, executable: caller.executable,
                isAnonymous: true, reason: "it declares no identity, and shares a group with all that declare none")
        }
        return entitled(to: try claimed(declared), caller, "it declares them")
    }

    /// What is about the keychain as a whole, such as its passcode, its settings, a backup or its log, is the user's business: not that of a program
    /// in a sandbox, which the user has kept from everything but its own. And who only claims his groups reaches no attested one by way of a
    /// backup either, nor changes what protects it.
    static func authorizeAdministration(_ caller: CallerIdentity, accessesAttestedGroups: Bool) throws(KeychainError) {
        if accessesAttestedGroups { try authorizeAttested(caller) }
        guard caller.sandbox == nil else {
            throw KeychainError(
                .missingEntitlement, "a program in a sandbox may use its own items, and nothing else of the keychain",
                hint: "run the command outside of the sandbox")
        }
    }

    /// What reads, destroys or closes items of attested groups, or changes what protects them, is for attested callers.
    static func authorizeAttested(_ caller: CallerIdentity) throws(KeychainError) {
        guard caller.grade == .attested else {
            throw KeychainError(
                .missingEntitlement,
                "the keychain may hold items of attested groups, and this program only claims to be who it is",
                hint: "let an attested program do it; /etc/latchkey/entitlements.d says which are")
        }
    }

    /// Whether the caller is shown the secrets of these groups only in a session that the passcode has opened: the user's own command sees
    /// every claimed group, and anyone can run it.
    ///
    /// - Parameter groups: nil for whichever there are.
    static func needsPasscode(_ caller: CallerIdentity, toReadSecretsOf groups: [AccessGroup]?) -> Bool {
        caller.isUserCommand && caller.grade == .claimed && groups?.allSatisfy { $0 == .shared } != true
    }

    /// A caller with groups of the administrator's, followed by those it declares itself. The two kinds never mix: a group that is claimed
    /// is another one than the group of the same name that is attested.
    private static func attestedCaller(_ caller: CallerIdentity, _ attested: [String]) throws(KeychainError)
        -> AuthorizedCaller
    {
        let named = attested.filter { $0 != "*" && $0 != AccessGroup.token.name }.map {
            AccessGroup($0, grade: .attested)
        }
        if attested.contains("*") {
            return AuthorizedCaller(
                readable: .all(.attested), writable: .all(.attested), home: named.first, executable: caller.executable,
                isAnonymous: false,
                reason: "the administrator gives it every attested group")
        }
        let own = caller.declaredGroups.map { $0.filter { $0 != "*" } } ?? []
        let groups = named + (own.isEmpty ? [] : try claimed(own))
        guard !groups.isEmpty else { throw AuthorizedCaller.noGroup }
        return entitled(to: groups, caller, "the administrator gives it the attested ones")
    }

    private static func claimed(_ declared: [String]) throws(KeychainError) -> [AccessGroup] {
        guard !declared.contains("*") else {
            throw KeychainError(
                .missingEntitlement, "the access group '*' cannot be claimed",
                hint: "name the groups under keychain-access-groups in the program's .entitlements file")
        }
        guard !declared.isEmpty else { throw AuthorizedCaller.noGroup }
        // The token group is read-only and comes last (keychain-behaviour §3.8.2).
        return declared.filter { $0 != AccessGroup.token.name && !$0.isEmpty }.map { AccessGroup($0, grade: .claimed) }
    }

    private static func entitled(to groups: [AccessGroup], _ caller: CallerIdentity, _ reason: String)
        -> AuthorizedCaller
    {
        AuthorizedCaller(
            readable: .only(groups), writable: .only(groups), home: groups.first, executable: caller.executable,
            isAnonymous: false,
            reason: reason)
    }

    /// What the caller may do, in words.
    static func report(_ caller: CallerIdentity, facts: [CallerReport.Fact]) -> CallerReport {
        do throws(KeychainError) {
            return try authorize(caller).report(facts)
        } catch {
            return CallerReport(facts: facts, groups: [], reason: error.problem)
        }
    }
}
